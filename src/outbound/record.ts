import { formatReply } from '../mail/reply.ts'
import type { Attempt, Delivery, Outcome } from '../model/delivery.ts'
import { messageEvent, outcomeEvents } from '../model/event.ts'
import type { Message } from '../model/message.ts'
import { type Reaction, reactionEvent } from '../model/reaction.ts'
import { suppressionOf } from '../model/suppression.ts'
import type { MintId } from '../os/ids.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { DeliveryRecord } from '../storage/store.ts'
import type { Verdict } from './schedule/verdict.ts'

/** What came of a claim. */
export interface Tried {
  outcome: Outcome
  attempt: Attempt
  /** What the recipient of test mail does next, once it is delivered, with the HTML it does it to. */
  reactions: { reaction: Reaction; html: string | null }[]
}

/** A delivery as it was claimed by `worker`, what came of it and what that means → what the store is told, with the events
 *  that tell it. */
export function recordOf(
  { delivery, message }: { delivery: Delivery; message: Message },
  tried: Tried,
  verdict: Verdict,
  { worker, now, mintId }: { worker: string; now: number; mintId: MintId },
): DeliveryRecord {
  const { attempt } = tried
  const response = responseOf(verdict.told)
  const told = outcomeEvents(verdict.told, {
    at: now,
    attempt: attempt.number,
    nextAttemptAt: verdict.nextAttemptAt,
    response,
    bounceNow: verdict.bounceNow,
  })
  const reactions = verdict.status === 'delivered' ? tried.reactions : []
  const events = [...told, ...reactions.map(({ reaction, html }) => reactionEvent(reaction, now, html))]
  // Ids of one millisecond are in no order; events are, for whoever sorts by id.
  const ids = events.map(() => mintId('evt')).sort()
  return {
    deliveryId: delivery.id,
    messageId: message.id,
    worker,
    attempt,
    outcome: verdict.told,
    status: verdict.status,
    nextAttemptAt: verdict.nextAttemptAt,
    smtpResponse: response,
    softBounceTold: verdict.bounceNow,
    opens: reactions.filter(({ reaction }) => reaction === 'opened').length,
    clicks: reactions.filter(({ reaction }) => reaction === 'clicked').length,
    events: events.map(({ type, fields }, i) => messageEvent(ids[i]!, type, message, delivery.email, now, fields)),
    // An address that bounced in a rehearsal still gets live mail.
    suppression:
      verdict.suppresses && message.mode === 'live'
        ? suppressionOf(mintId('sup'), 'hard_bounce', message, delivery.email, now)
        : null,
    now,
  }
}

/** A line of the log for what is in the store. */
export function publish(record: DeliveryRecord, mailLog: MailLog): void {
  const { attempt, outcome } = record
  const fact = {
    message: record.messageId,
    delivery: record.deliveryId,
    attempt: attempt.number,
    host: attempt.mxHost,
    durationMs: attempt.durationMs,
    reply: record.smtpResponse,
  }
  if (outcome.kind === 'delivered') mailLog.delivered(fact)
  else if (outcome.kind === 'bounced') mailLog.bounced({ ...fact, type: outcome.bounceType })
  else mailLog.deferred({ ...fact, nextAttemptAt: record.nextAttemptAt })
}

/** What the peer, or we in its place, had to say. */
function responseOf(outcome: Outcome): string {
  return outcome.kind === 'delivered' ? formatReply(outcome.reply) : outcome.message
}
