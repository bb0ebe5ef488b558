import { formatReply } from '../../mail/reply.ts'
import { type Attempt, NO_SERVER, type Outcome, UNTRIED } from '../../model/delivery.ts'
import { type Event, type EventType, messageEvent, outcomeEvents, suppressedEvent } from '../../model/event.ts'
import type { DeliveryStatus, Message } from '../../model/message.ts'
import { reactionEvent } from '../../model/reaction.ts'
import { simulate } from '../../model/sandbox.ts'
import type { MintId } from '../../os/ids.ts'
import type { AcceptedMessage, NewDelivery, SuppressedAddresses } from '../../storage/store.ts'
import type { Recipient } from './recipients.ts'

export type Outcomes = Pick<AcceptedMessage, 'deliveries' | 'attempts' | 'events'>

/** Accepted test mail → completed deliveries, simulated attempts, and every event that live mail would cause, in order.
 *  Everything happens at the message's `createdAt`. Creates no suppressions: a bounce of test mail does not block live
 *  mail. Never throws. */
export function playOut(
  message: Message,
  html: string | null,
  recipients: readonly Recipient[],
  suppressed: SuppressedAddresses,
  mintId: MintId,
): Outcomes {
  const at = message.createdAt
  const played: Outcomes = { deliveries: [], attempts: [], events: [] }
  const events: { type: EventType; to: string; fields: Record<string, unknown> }[] = []

  for (const [position, { mailbox, type, folded }] of recipients.entries()) {
    const { outcomes, then } = simulate(mailbox.address)
    const why = suppressed.get(folded)
    const tried = why === undefined ? outcomes : []
    const delivery: NewDelivery = {
      id: mintId('dlv'),
      position,
      email: mailbox.address,
      type,
      destination: mailbox.domain,
      nextAttemptAt: null,
      ...finalState(tried, at),
    }
    played.deliveries.push(delivery)
    if (why !== undefined) events.push({ ...suppressedEvent(at, why), to: delivery.email })
    for (const [index, outcome] of tried.entries()) {
      const attempt = index + 1
      const facts = {
        at,
        attempt,
        nextAttemptAt: attempt < tried.length ? at : null,
        response: responseOf(outcome),
        bounceNow: outcome.kind === 'deferred' && outcome.aboutRecipient && index === 0,
      }
      played.attempts.push({ deliveryId: delivery.id, attempt: madeBelieve(outcome, attempt, at, delivery.email) })
      events.push(...outcomeEvents(outcome, facts).map((event) => ({ ...event, to: delivery.email })))
    }
    if (delivery.status !== 'delivered') continue
    delivery.opens = then.filter((reaction) => reaction === 'opened').length
    delivery.clicks = then.filter((reaction) => reaction === 'clicked').length
    events.push(
      ...then.map((reaction) => ({ ...reactionEvent(reaction, at, html, delivery.email), to: delivery.email })),
    )
  }

  // Ids of one millisecond are unordered; sorting keeps the events in order for clients that sort by id.
  const ids = events.map(() => mintId('evt')).sort()
  played.events = events.map(({ type, to, fields }, i): Event => messageEvent(ids[i]!, type, message, to, at, fields))
  return played
}

type FinalState = Omit<NewDelivery, 'id' | 'position' | 'email' | 'type' | 'destination' | 'nextAttemptAt'>

function finalState(outcomes: readonly Outcome[], at: number): FinalState {
  const last = outcomes.at(-1)
  if (last === undefined) return { ...UNTRIED, status: 'suppressed' }
  const bounce = last.kind === 'bounced' ? last : null
  const status: DeliveryStatus = bounce === null ? 'delivered' : 'bounced'
  return {
    status,
    attempts: outcomes.length,
    lastAttemptAt: at,
    deliveredAt: status === 'delivered' ? at : null,
    smtpResponse: responseOf(last),
    bounceType: bounce?.bounceType ?? null,
    bounceCode: bounce?.code ?? null,
    opens: 0,
    clicks: 0,
  }
}

function madeBelieve(outcome: Outcome, number: number, at: number, email: string): Attempt {
  const response = responseOf(outcome)
  return {
    number,
    startedAt: at,
    durationMs: 0,
    outcome: outcome.kind,
    ...NO_SERVER,
    reply: response,
    enhancedCode: outcome.kind === 'delivered' ? outcome.reply.enhanced : outcome.code,
    cause: outcome.kind === 'delivered' ? null : outcome.cause,
    transcript: `0 -- simulated for a test key: nothing was sent\n0 C: RCPT TO:<${email}>\n0 S: ${response}`,
  }
}

function responseOf(outcome: Outcome): string {
  return outcome.kind === 'delivered' ? formatReply(outcome.reply) : outcome.message
}
