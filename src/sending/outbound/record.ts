import { formatReply } from '../../mail/reply.ts'
import type { Attempt, Delivery, Outcome } from '../../model/delivery.ts'
import { expiredEvent, messageEvent, outcomeEvents } from '../../model/event.ts'
import type { Message } from '../../model/message.ts'
import { type Reaction, reactionEvent } from '../../model/reaction.ts'
import { suppressionOf } from '../../model/suppression.ts'
import type { MintId } from '../../os/ids.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { DeliveryRecord } from '../../storage/store.ts'
import type { Verdict } from './schedule/verdict.ts'

/** Result of a claimed delivery. */
export interface Tried {
  outcome: Outcome
  attempt: Attempt
  /** Simulated reactions of a test recipient after delivery, with the HTML they use. */
  reactions: { reaction: Reaction; html: string | null }[]
  /** As in AttemptResult. */
  blockedSource?: string
}

/** A delivery claimed by `worker`, its result and verdict → the record for the store, with its events. */
export function recordOf(
  { delivery, message }: { delivery: Delivery; message: Message },
  tried: Tried,
  verdict: Verdict,
  { worker, now, mintId }: { worker: string; now: number; mintId: MintId },
): DeliveryRecord {
  const { attempt } = tried
  const response = responseOf(verdict.reported)
  const reported = outcomeEvents(verdict.reported, {
    at: now,
    attempt: attempt.number,
    nextAttemptAt: verdict.nextAttemptAt,
    response,
    bounceNow: verdict.bounceNow,
  })
  const reactions = verdict.status === 'delivered' ? tried.reactions : []
  const ended = verdict.isExpired ? [expiredEvent(now)] : []
  const events = [
    ...reported,
    ...ended,
    ...reactions.map(({ reaction, html }) => reactionEvent(reaction, now, html, delivery.email)),
  ]
  // Ids of one millisecond are unordered; sorting keeps the events in order for clients that sort by id.
  const ids = events.map(() => mintId('evt')).sort()
  return {
    deliveryId: delivery.id,
    messageId: message.id,
    templateId: message.templateId,
    worker,
    attempt,
    outcome: verdict.reported,
    status: verdict.status,
    nextAttemptAt: verdict.nextAttemptAt,
    smtpResponse: response,
    isSoftBounceReported: verdict.bounceNow,
    opens: reactions.filter(({ reaction }) => reaction === 'opened').length,
    clicks: reactions.filter(({ reaction }) => reaction === 'clicked').length,
    events: events.map(({ type, fields }, i) => messageEvent(ids[i]!, type, message, delivery.email, now, fields)),
    // A bounce of test mail does not suppress the address for live mail.
    suppression:
      verdict.suppresses && message.mode === 'live'
        ? suppressionOf(mintId('sup'), 'hard_bounce', message, delivery.email, now)
        : null,
    now,
  }
}

/** Logs a stored result. */
export function publish(record: DeliveryRecord, mailLog: MailLog): void {
  const { attempt, outcome } = record
  const fact = {
    message: record.messageId,
    delivery: record.deliveryId,
    attempt: attempt.number,
    host: attempt.mxHost,
    ...(attempt.relay !== undefined && { relay: attempt.relay.name }),
    durationMs: attempt.durationMs,
    reply: record.smtpResponse,
  }
  if (outcome.kind === 'delivered') mailLog.delivered(fact)
  else if (outcome.kind === 'bounced') mailLog.bounced({ ...fact, type: outcome.bounceType })
  else mailLog.deferred({ ...fact, nextAttemptAt: record.nextAttemptAt })
}

/** The peer's words, or our own if there was no reply. */
function responseOf(outcome: Outcome): string {
  return outcome.kind === 'delivered' ? formatReply(outcome.reply) : outcome.message
}
