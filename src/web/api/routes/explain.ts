import { z } from 'zod'
import type { ApiKey } from '../../../model/api-key.ts'
import { type Attempt, type Delivery, queueOf } from '../../../model/delivery.ts'
import { iso } from '../../../model/event.ts'
import { ANY_MESSAGE, isFinal, type Message, type Mode, TRANSACTIONAL } from '../../../model/message.ts'
import type { Refusal } from '../../../model/refusal.ts'
import type { Report } from '../../../model/report.ts'
import { suppressionKey } from '../../../model/suppression.ts'
import { countsFor } from '../../../model/suppression-streams.ts'
import { partition } from '../../../os/partition.ts'
import {
  explainAddress,
  explainDelivery,
  type Known,
  meaningOfText,
  tlsPolicyOn,
} from '../../../sending/outbound/explain.ts'
import type { RouteShown } from '../../../sending/outbound/schedule/route.ts'
import type { WarmupState } from '../../../sending/outbound/senders/warmups.ts'
import type { SendingRules } from '../../../sending/submission/sending-rules.ts'
import { requireStream, type SendingConfig } from '../../../sending/submission/streams.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Operation, operation } from '../operation.ts'
import { emailAddress, streamName } from '../schema.ts'
import { type Scope, scopeOf } from '../scope.ts'
import { isoOrNull, loadMessage } from './message-record.ts'
import { suppressionRecord } from './suppressions.ts'

export interface ExplainDeps {
  store: Pick<Store, 'messages' | 'deliveries' | 'events' | 'suppressions' | 'held'>
  /** Recipient domain and queue → route that mail to it would take now. Queries DNS. */
  routeTo: (domain: string, queue: string) => Promise<RouteShown>
  /** Current state of a destination; null if this process delivers no mail. */
  destinationState: (destination: string, queue: string) => Known['destination']
  /** Checks whether the key's domain can send now. */
  rules: SendingRules
  settings: Known['settings'] & { hasSeveralWays: boolean; sending: Pick<SendingConfig, 'streams'> }
}

/** The operations of `/v1/explain` and `/v1/messages/…/explain`: the state of mail and its next step, as sentences and
 *  as data. */
export function explainOperations(deps: ExplainDeps): Operation[] {
  const { store, routeTo, destinationState, rules, settings } = deps

  /** The facts that explain delivery to an address by mail of the sender's stream. Includes suppressions of its domain and
   *  of its whole organization, in these modes. `route` is null if no attempt follows. */
  const known = async (
    email: string,
    sender: { organizationId: string; domainId: string; stream: string; queue: string },
    route: Promise<RouteShown> | null,
    now: number,
    modes: readonly Mode[],
  ): Promise<Known> => {
    const all = await store.suppressions.find(sender.organizationId, suppressionKey(email))
    const own = all.filter(
      ({ domainId, mode }) => (domainId ?? sender.domainId) === sender.domainId && modes.includes(mode),
    )
    const [suppressions, ofOtherStreams] = partition(own, (each) => countsFor(each, sender.stream))
    const known = await route
    return {
      email,
      suppressions,
      ofOtherStreams,
      ended: null,
      route: known,
      // The state of a destination results from live mail, which test keys cannot see.
      destination: known === null || !modes.includes('live') ? null : destinationState(known.destination, sender.queue),
      settings,
      now,
    }
  }

  return [
    operation({
      id: 'explain_address',
      method: 'GET',
      path: '/v1/explain',
      tag: 'Messages',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      tool: {
        name: 'explain_address',
        description:
          'Explains what would happen to a message to this address now, without sending: suppressions, DNS, and the state of the destination.',
      },
      takesNoTurn: true,
      summary: 'Explain delivery to an address',
      description:
        'Describes what would happen to a live message to this address now, and why. With a test key, the answer uses DNS and the suppressions of test keys only. `site` covers all organizations on this server: for replies to other organizations, it shows only the reply class.',
      responses: async () => (await import('../responses/explain.ts')).addressExplainedResponses,
      query: z.strictObject({
        to: emailAddress.meta({ example: 'ann@customer.example' }),
        stream: streamName.default(TRANSACTIONAL).describe('Stream of the message.'),
      }),
      async handle(call) {
        const { to, stream } = call.query
        requireStream(stream, settings.sending)
        const scope = scopeOf(call.key)
        const isTest = scope.mode === 'test'
        const queue = queueOf(domainOf(to), call.key.organizationId)
        const [facts, refusal] = await Promise.all([
          known(
            to,
            { ...call.key, stream, queue },
            routeTo(domainOf(to), queue),
            call.now,
            isTest ? ['test'] : ['live'],
          ),
          isTest ? null : rules.refusalOf(call.key, call.now),
        ])
        const isWelcome = facts.suppressions.length === 0 && !(facts.route?.kind === 'nowhere' && facts.route.isFinal)
        const body = {
          to,
          would_send: refusal === null && isWelcome,
          explanation: [...(refusal === null ? [] : [refusedNow(refusal)]), ...explainAddress(facts)],
          refused_with: refusal?.reason ?? null,
          ...asData(facts, false),
          last_message: await lastMessage(to, scope),
        }
        return { status: 200, body }
      },
    }),
    operation({
      id: 'messages_explain',
      method: 'GET',
      path: '/v1/messages/:message_id/explain',
      tag: 'Messages',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      tool: {
        name: 'explain_message',
        description:
          'Explains why a sent message was delivered, delayed, bounced or suppressed, in sentences and as data, for each recipient.',
      },
      takesNoTurn: true,
      summary: 'Explain the delivery of a message',
      description: 'The current state and next step for each recipient.',
      responses: async () => (await import('../responses/explain.ts')).messageExplainedResponses,
      load: loadMessage(deps),
      async handle({ key, resource: message, now }) {
        const deliveries = await store.messages.deliveries(message.id)
        const attempts = await store.messages.attempts(message.id)
        const reports = await store.deliveries.reports(message.id)
        // One lookup per queue.
        const open = message.mode === 'live' ? deliveries.filter(({ status }) => !isFinal(status)) : []
        const routes = new Map(
          [...new Map(open.map(({ email, queue }) => [queue, email]))].map(([queue, email]) => [
            queue,
            routeTo(domainOf(email), queue),
          ]),
        )
        const isHeld = await store.held.isHeld(message.id)
        const endings = await endingsOf(message, deliveries, store)
        const replies = await repliesTo(message, store)
        const recipients = await Promise.all(
          deliveries.map(async (delivery) => {
            const route = (open.includes(delivery) && routes.get(delivery.queue)) || null
            const { organizationId, domainId, stream } = message
            const sender = { organizationId, domainId, stream, queue: delivery.queue }
            const facts = await known(delivery.email, sender, route, now, modesOf(message, key))
            const own = attempts.flatMap(({ email, attempt }) => (email === delivery.email ? [attempt] : []))
            const last = own.at(-1) ?? null
            const told = recipientWords(delivery, message, last, bouncedBy(delivery, last, reports), {
              ...facts,
              ended: endings.get(delivery.email) ?? null,
              ...(settings.hasSeveralWays && { attempts: own }),
            })
            const words = withReplies(told, replies.get(delivery.email) ?? [])
            const waits = isHeld && !isFinal(delivery.status) && delivery.nextAttemptAt === null
            return waits ? { ...words, explanation: [HELD] } : words
          }),
        )
        return { status: 200, body: { message_id: message.id, status: message.status, mode: message.mode, recipients } }
      },
    }),
  ]

  async function lastMessage(to: string, scope: Scope) {
    const { records } = await store.messages.list({ ...ANY_MESSAGE, ...scope, to }, { limit: 1, after: null })
    const message = records[0]
    if (message === undefined) return null
    const deliveries = await store.messages.deliveries(message.id)
    const delivery = deliveries.find(({ email }) => suppressionKey(email) === suppressionKey(to))
    return delivery === undefined
      ? null
      : { message_id: message.id, created_at: iso(message.createdAt), mode: message.mode, ...stateOf(delivery) }
  }
}

/** Message and its deliveries → by recipient, when and why a suppression ended its delivery. */
async function endingsOf(
  { id: messageId, organizationId }: Message,
  deliveries: readonly Delivery[],
  { events }: Pick<Store, 'events'>,
): Promise<Map<string, NonNullable<Known['ended']>>> {
  const { length } = deliveries.filter(({ status }) => status === 'suppressed')
  if (length === 0) return new Map()
  const filter = { organizationId, messageId, type: 'message.suppressed', domainId: null, mode: null } as const
  const page = await events.list({ ...filter, createdAfter: null, createdBefore: null }, { limit: length, after: null })
  return new Map(
    page.records.map(({ createdAt, body }) => {
      const { to, reason } = JSON.parse(body).data
      return [to, { at: createdAt, reason }]
    }),
  )
}

interface Reply {
  inbound_message_id: string | null
  from: string
  replied_at: string
}

/** Message → its newest replies by recipient, newest first. */
async function repliesTo(
  { id: messageId, organizationId }: Message,
  { events }: Pick<Store, 'events'>,
): Promise<Map<string, Reply[]>> {
  const filter = { organizationId, messageId, type: 'message.replied', domainId: null, mode: null } as const
  const all = { ...filter, createdAfter: null, createdBefore: null }
  const { records } = await events.list(all, { limit: SHOWN_REPLIES, after: null })
  const replies = records.map(({ body }) => JSON.parse(body).data)
  return Map.groupBy(replies, ({ to }): string => to)
}

/** The sentence about replies has no text of theirs: strangers write it. */
function withReplies<T extends { explanation: string[] }>(told: T, own: readonly Reply[]) {
  const replies = own.map(({ inbound_message_id, from, replied_at }) => ({ inbound_message_id, from, replied_at }))
  const [newest] = replies
  if (newest === undefined) return { ...told, replies }
  const count = replies.length === 1 ? 'A reply arrived' : `${replies.length} replies arrived, the last one`
  return { ...told, explanation: [...told.explanation, `${count} at ${newest.replied_at}.`], replies }
}

/** Of a message to all its recipients. */
const SHOWN_REPLIES = 50

/** Modes of the suppressions that apply to a message: both for a test message. A test key sees only test
 *  suppressions. */
function modesOf({ mode }: Message, key: ApiKey): Mode[] {
  if (mode === 'live') return ['live']
  return scopeOf(key).mode === 'test' ? ['test'] : ['test', 'live']
}

const HELD =
  'This server was restored from a backup and may have sent this message after the backup was made. It is held until the operator releases or discards it.'

const domainOf = (email: string) => email.slice(email.lastIndexOf('@') + 1)

function refusedNow({ reason, message }: Refusal): string {
  return `Postrider currently accepts no message from this domain (${reason}): ${message.replace(/\.$/, '')}.`
}

/** The report that bounced a recipient after the remote server had accepted the message; null if there is none. */
function bouncedBy(delivery: Delivery, last: Attempt | null, reports: readonly ReportOf[]): Report | null {
  if (delivery.status !== 'bounced' || last?.outcome !== 'delivered') return null
  return reports.findLast(({ email, report }) => email === delivery.email && report.kind === 'failed')?.report ?? null
}

interface ReportOf {
  email: string
  report: Report
}

function recipientWords(
  delivery: Delivery,
  message: Message,
  last: Attempt | null,
  report: Report | null,
  facts: Known,
) {
  const cause = (report ?? last)?.cause ?? null
  return {
    email: delivery.email,
    type: delivery.type,
    explanation: explainDelivery(delivery, message, last, report, facts),
    ...stateOf(delivery),
    bounce_class: cause?.class ?? null,
    rule: cause?.rule ?? null,
    ...asData(facts, message.requireTls),
  }
}

function stateOf(delivery: Delivery) {
  return {
    status: delivery.status,
    attempts: delivery.attempts,
    last_attempt_at: isoOrNull(delivery.lastAttemptAt),
    next_attempt_at: isoOrNull(delivery.nextAttemptAt),
    smtp_response: delivery.smtpResponse,
    meaning: meaningOfText(delivery.smtpResponse),
  }
}

/** Facts → their JSON. `mx_hosts` is null if they were not looked up, because no attempt follows. */
function asData({ suppressions, route, destination }: Known, requireTls: boolean) {
  return {
    suppressions: suppressions.map(suppressionRecord),
    mx_hosts:
      route === null ? null : route.kind === 'nowhere' ? [] : route.kind === 'hosts' ? route.hosts : [route.host],
    tls_policy: route === null || route.kind === 'nowhere' ? null : tlsPolicyOn(route, requireTls),
    dns_problem: route?.kind === 'nowhere' ? route.reason : null,
    slots: destination === null ? null : { limit: destination.maxUnderWay, under_way: destination.underWay },
    site: destination === null ? null : destinationRecord(destination),
  }
}

/** What was sent is not shown: it counts the mail of all organizations. */
function warmupRecord({ group, state, day, allowance, left, nextAt, heldUntil }: WarmupState) {
  return { group, state, day, allowance, waits_until: left > 0 ? null : iso(heldUntil ?? nextAt) }
}

function destinationRecord(destination: NonNullable<Known['destination']>) {
  return {
    name: destination.destination,
    state: destination.state,
    connections: destination.limit,
    max_connections: destination.maxLimit,
    lowered_at: isoOrNull(destination.lowered?.at ?? null),
    lowered_because: destination.lowered?.class ?? null,
    paused_until: isoOrNull(destination.pausedUntil),
    sending_addresses: (destination.addresses ?? []).map(({ address, rest, warmup }) => ({
      address,
      resting_until: isoOrNull(rest?.until ?? null),
      resting_because: rest?.rule ?? null,
      ...(warmup !== null && { warmup: warmupRecord(warmup) }),
    })),
  }
}
