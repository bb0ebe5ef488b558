import { type Event, isOnDemand } from '../../model/event.ts'
import { isFinal } from '../../model/message.ts'
import { acceptedEvent, eventOf, suppressionEvent } from '../../model/on-demand-event.ts'
import { messageStoredBytes } from '../../model/stored-bytes.ts'
import { type SuppressionReason, suppressionKey } from '../../model/suppression.ts'
import { partition } from '../../os/partition.ts'
import type { CommitListener } from '../commit-listener.ts'
import type { DueIndex } from '../due-index.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { MailCounts } from '../mail-counts.ts'
import { createSenderAddress, packRecipients } from '../message-rows.ts'
import { foldedSubject } from '../search-text.ts'
import { marksOf } from '../search-tokens.ts'
import { slotOfQueue } from '../slots.ts'
import type { AcceptedMessage, NewDelivery, Remember } from '../store.ts'
import { collectWrites } from './combined.ts'
import { type NewContent, storeContents } from './contents.ts'
import { addOutcomes, addStats } from './counters.ts'
import type { Destinations } from './destinations.ts'
import type { EventKinds } from './event-kinds.ts'
import type { FanOut } from './fan-out.ts'
import type { Additions } from './group.ts'
import { rememberAll } from './idempotency.ts'
import { insertInto } from './insert.ts'
import type { Collected } from './mail-lane.ts'
import { addEngagement, addMarks, addOutcomeRows, type Engaged, type Mark, type OutcomeRow } from './outcomes.ts'
import type { Places } from './places.ts'
import type { SearchRanges } from './search-ranges.ts'
import { searchVector } from './search-words.ts'
import { suppressAll } from './suppressions.ts'
import type { Statements } from './transactions.ts'
import { type Counted, keyOf, type Usage } from './usage.ts'

type NewMessage = AcceptedMessage['message'] & { senderAddress: string; storedBytes: number; words: string }
const addMessages = insertInto<NewMessage>('messages', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ organizationId }) => organizationId],
  domain_id: ['text', ({ domainId }) => domainId],
  key_id: ['text', ({ keyId }) => keyId],
  mode: ['text', ({ mode }) => mode],
  source: ['text', ({ source }) => source],
  stream: ['text', ({ stream }) => stream],
  sender: ['text', ({ from }) => from],
  sender_address: ['text', ({ senderAddress }) => senderAddress],
  recipients: ['text', packRecipients],
  subject: ['text', ({ subject }) => subject],
  tags: ['text', ({ tags }) => JSON.stringify(tags)],
  metadata: ['text', ({ metadata }) => JSON.stringify(metadata)],
  template_id: ['text', ({ templateId }) => templateId],
  size_bytes: ['bigint', ({ sizeBytes }) => sizeBytes],
  message_id_header: ['text', ({ messageIdHeader }) => messageIdHeader],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  scheduled_at: ['bigint', ({ scheduledAt }) => scheduledAt],
  expires_at: ['bigint', ({ expiresAt }) => expiresAt],
  require_tls: ['boolean', ({ requireTls }) => requireTls],
  unsubscribe: ['boolean', ({ unsubscribe }) => unsubscribe],
  track_opens: ['boolean', ({ trackOpens }) => trackOpens],
  track_clicks: ['boolean', ({ trackClicks }) => trackClicks],
  stored_bytes: ['bigint', ({ storedBytes }) => storedBytes],
  folded_subject: ['text', ({ subject }) => foldedSubject(subject)],
  words: ['tsvector', ({ words }) => words],
})
const addTags = insertInto<{ organizationId: string; tag: string; messageId: string }>('message_tags', {
  organization_id: ['text', ({ organizationId }) => organizationId],
  tag: ['text', ({ tag }) => tag],
  message_id: ['text', ({ messageId }) => messageId],
})

const addRedactions = insertInto<{ messageId: string; afterMs: number; dueAt: number }>('content_redactions', {
  message_id: ['text', ({ messageId }) => messageId],
  after_ms: ['bigint', ({ afterMs }) => afterMs],
  due_at: ['bigint', ({ dueAt }) => dueAt],
})

/** A delivery with the fields of its message. */
type DeliveryOf = NewDelivery & {
  message: AcceptedMessage['message']
  queue: string
  recorded: number
  isOnlyRecipient: boolean
}
const addDeliveries = insertInto<DeliveryOf>('deliveries', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ message }) => message.organizationId],
  message_id: ['text', ({ message }) => message.id],
  position: ['int', ({ position }) => position],
  email: ['text', ({ email }) => email],
  address: ['text', ({ email }) => suppressionKey(email)],
  type: ['text', ({ type }) => type],
  queue: ['text', ({ queue }) => queue],
  status: ['text', ({ status }) => status],
  attempts: ['int', ({ attempts }) => attempts],
  last_attempt_at: ['bigint', ({ lastAttemptAt }) => lastAttemptAt],
  delivered_at: ['bigint', ({ deliveredAt }) => deliveredAt],
  smtp_response: ['text', ({ smtpResponse }) => smtpResponse],
  bounce_type: ['text', ({ bounceType }) => bounceType],
  bounce_code: ['text', ({ bounceCode }) => bounceCode],
})
const queueDeliveries = insertInto<DeliveryOf>('delivery_queue', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ message }) => message.organizationId],
  message_id: ['text', ({ message }) => message.id],
  slot: ['smallint', ({ queue }) => slotOfQueue(queue)],
  key: ['text', ({ queue }) => queue],
  due_at: ['bigint', ({ nextAttemptAt }) => nextAttemptAt],
  attempts: ['int', ({ attempts }) => attempts],
  recorded: ['int', ({ recorded }) => recorded],
  attempted_at: ['bigint', ({ lastAttemptAt }) => lastAttemptAt],
  recorded_at: ['bigint', ({ lastAttemptAt }) => lastAttemptAt],
  seq: ['int', ({ recorded }) => recorded],
  accepted_at: ['bigint', ({ message }) => message.createdAt],
  status: ['text', ({ status }) => status],
  expires_at: ['bigint', ({ message }) => message.expiresAt],
  is_only_recipient: ['boolean', ({ isOnlyRecipient }) => isOnlyRecipient],
})
type NewEvent = Event & { place: number; kind: number }
const EVENT_COLUMNS: Parameters<typeof insertInto<NewEvent>>[1] = {
  id: ['text', ({ id }) => id],
  place: ['bigint', ({ place }) => place],
  organization_id: ['text', ({ organizationId }) => organizationId],
  domain_id: ['text', ({ domainId }) => domainId],
  message_id: ['text', ({ messageId }) => messageId],
  type: ['text', ({ type }) => type],
  mode: ['text', ({ mode }) => mode],
  created_at: ['bigint', ({ createdAt }) => createdAt],
  kind: ['bigint', ({ kind }) => kind],
  body: ['text', ({ body }) => body],
}
const addEvents = insertInto<NewEvent>('events', EVENT_COLUMNS)
/** Their IDs follow from what happened. */
const addOnDemandEvents = insertInto<NewEvent>('events', EVENT_COLUMNS, 'on conflict (id) do nothing')

/** Reports a commit to the listener. */
function report(
  listener: CommitListener | undefined,
  { ms, suppressed, events }: { ms: number; suppressed: readonly SuppressionReason[]; events: readonly Event[] },
): void {
  if (listener === undefined) return
  listener.committed(ms)
  for (const reason of suppressed) listener.suppressed(reason)
  if (events.length === 0) return
  listener.happened?.(new Set(events.map(({ organizationId }) => organizationId)))
  if (events.some(({ type }) => isOnDemand(type))) listener.onDemand?.()
}

/** → What collects the additions of one group after the other. */
export function createCollector(inside: {
  places: Places
  counts: MailCounts
  fanOut: FanOut
  usage: Usage
  dueIndex: DueIndex
  queueOf: Destinations['queueOf']
  searchRanges: SearchRanges
  eventKinds: EventKinds
  commitListener: CommitListener | undefined
  /** Events of an organization were committed, the last one at this place. */
  happened: (organizationId: string, place: number) => void
}): (statements: Statements) => Collected {
  const { places, counts, usage } = inside
  const senderAddressOf = createSenderAddress()
  return (statements) => {
    counts.drop()
    const fanOut = inside.fanOut.begin()
    const searchRanges = inside.searchRanges.begin()
    const eventKinds = inside.eventKinds.begin()
    const messages: NewMessage[] = []
    const contents: NewContent[] = []
    const tags: Parameters<typeof addTags>[1][number][] = []
    const redactions: { messageId: string; afterMs: number; dueAt: number }[] = []
    const deliveries: DeliveryOf[] = []
    const outcomes: OutcomeRow[] = []
    const engaged: Engaged[] = []
    const marks: Mark[] = []
    const events: NewEvent[] = []
    const suppressions: AcceptedMessage['suppressions'] = []
    const records: Remember[] = []
    const sums = new Map<string, Counted & { by: number }>()
    const following: (() => void)[] = []
    const suppressed: SuppressionReason[] = []
    const beganAt = performance.now()

    const use: Additions['use'] = (organizationId, counter, by, period = '') => {
      const key = keyOf({ organizationId, counter, period })
      const sum = sums.get(key)
      if (sum === undefined) sums.set(key, { organizationId, counter, period, by })
      else sum.by += by
    }
    const append: Additions['append'] = (event, { onlyWebhook, ...context } = {}) => {
      if (isOnDemand(event.type) && onlyWebhook === undefined && !fanOut.isWanted(event)) return
      const placed = { ...event, place: places.next(), kind: eventKinds.kindOf(event) }
      events.push(placed)
      if (onlyWebhook === undefined) counts.event(event, context)
      fanOut.deliver(placed, onlyWebhook)
    }
    const onDemand: OnDemandEvents = {
      isNamed: inside.fanOut.isNamed,
      offer: (event) => {
        if (fanOut.isWanted(event)) append(eventOf(event))
      },
    }
    const addDelivery = (part: NewDelivery, accepted: AcceptedMessage) => {
      const { message, deliveries: parts, attempts, pool, relayedDomain: domain } = accepted
      const { organizationId } = message
      const queue = inside.queueOf({
        destination: part.destination,
        organizationId,
        sender: { stream: message.stream, pool, domain },
        deliveryId: part.id,
      })
      const own = attempts.filter(({ deliveryId }) => deliveryId === part.id)
      const isOnlyRecipient = parts.length === 1
      deliveries.push({ ...part, message, queue, recorded: own.length, isOnlyRecipient })
      for (const [at, { attempt }] of own.entries()) outcomes.push(outcomeOf(part, at + 1, message, attempt))
      if (part.opens > 0 || part.clicks > 0) {
        const { id, opens, clicks } = part
        engaged.push({ deliveryId: id, organizationId: message.organizationId, opens, clicks })
      }
      if (isFinal(part.status)) marks.push({ message, status: part.status, isOnlyRecipient })
    }

    const add: Additions = {
      message: (accepted) => {
        const { message, content, deliveries: parts } = accepted
        const { id, organizationId, sizeBytes, subject } = message
        const isAcceptanceNamed = onDemand.isNamed(organizationId, 'message.accepted')
        const metadata = JSON.stringify(message.metadata)
        const events = isAcceptanceNamed ? 2 : 1
        const storedBytes = messageStoredBytes(sizeBytes, parts.length, metadata, subject, events)
        const row = { ...message, senderAddress: senderAddressOf(message.from), storedBytes }
        messages.push({ ...row, words: wordsOf(searchRanges.codeFor(organizationId, id), row, parts) })
        contents.push({ ownerId: id, kind: 'content', bytes: content })
        use(organizationId, 'stored_bytes', storedBytes)
        for (const tag of new Set(message.tags)) tags.push({ organizationId, tag, messageId: id })
        for (const part of parts) addDelivery(part, accepted)
        if (accepted.redactAfterMs !== undefined) {
          const afterMs = accepted.redactAfterMs
          redactions.push({ messageId: id, afterMs, dueAt: (message.scheduledAt ?? message.createdAt) + afterMs })
        }
        counts.accepted(message, parts)
        if (isAcceptanceNamed) for (const part of parts) onDemand.offer(acceptedEvent(message, part))
        for (const event of accepted.events) append(event)
        suppressions.push(...accepted.suppressions)
      },
      content: (content) => contents.push(content),
      append,
      onDemand,
      pausing: fanOut.pausing,
      isPausing: fanOut.isPausing,
      outcome: (row) => outcomes.push(row),
      mark: (mark) => marks.push(mark),
      engage: (row) => engaged.push(row),
      suppress: (suppression) => suppressions.push(suppression),
      use,
      used: (organizationId, counter, period = '') => sums.get(keyOf({ organizationId, counter, period }))?.by ?? 0,
      remember: (record) => {
        if (record !== undefined) records.push(record)
      },
      afterCommit: (work) => following.push(work),
    }
    const suppress = async (some: AcceptedMessage['suppressions']) => {
      const added = await suppressAll(statements, some)
      for (const { reason } of added) suppressed.push(reason)
      return added
    }
    const write = async () => {
      const [reported, others] = partition(suppressions, ({ organizationId }) =>
        onDemand.isNamed(organizationId, 'suppression.added'),
      )
      // Only the database knows which are new, and their events are written with the others.
      for (const each of await suppress(reported)) onDemand.offer(suppressionEvent('added', each, each.createdAt))
      const { stats, outcomes: counted } = counts.take()
      const { statements: together, writes } = collectWrites(statements.laneId)
      addMessages(together, messages)
      addDeliveries(together, deliveries)
      queueDeliveries(
        together,
        deliveries.filter(({ nextAttemptAt }) => nextAttemptAt !== null),
      )
      addOutcomeRows(together, outcomes)
      const [caused, minted] = partition(events, ({ type }) => isOnDemand(type))
      addEvents(together, minted)
      addOnDemandEvents(together, caused)
      addStats(together, stats)
      addOutcomes(together, counted)
      usage.addAll(together, [...sums.values()])
      // These are rare, or write what another statement writes too.
      const sent = Promise.all([
        searchRanges.write(statements),
        storeContents(contents.length === 1 ? together : statements, contents),
        addTags(statements, tags),
        addRedactions(statements, redactions),
        addEngagement(statements, engaged),
        addMarks(statements, marks),
        eventKinds.write(statements),
        fanOut.write(statements, together),
        suppress(others),
        rememberAll(statements, records),
      ])
      return { sent, writes, writtenTo: events.at(-1)?.place }
    }
    const committed = () => {
      for (const { queue, nextAttemptAt } of deliveries) {
        if (nextAttemptAt !== null) inside.dueIndex.offer(queue, nextAttemptAt)
      }
      for (const work of following) work()
      const reached = new Map(events.map(({ organizationId, place }) => [organizationId, place]))
      for (const [organizationId, place] of reached) inside.happened(organizationId, place)
      report(inside.commitListener, { ms: performance.now() - beganAt, suppressed, events })
      searchRanges.committed()
      eventKinds.committed()
      fanOut.committed()
    }
    return { add, write, committed }
  }
}

function wordsOf(code: string, row: Omit<NewMessage, 'words'>, deliveries: readonly NewDelivery[]): string {
  const texts = { subject: row.subject, sender: row.from, emails: deliveries.map(({ email }) => email) }
  return searchVector(code, texts, marksOf({ ...row, metadata: JSON.stringify(row.metadata) }))
}

/** The state of a delivery that was accepted with an attempt. */
function outcomeOf(
  part: NewDelivery,
  seq: number,
  { organizationId }: AcceptedMessage['message'],
  attempt: AcceptedMessage['attempts'][number]['attempt'],
): OutcomeRow {
  const { id, status, attempts, lastAttemptAt, deliveredAt, smtpResponse, bounceType, bounceCode } = part
  const state = { status, attempts, lastAttemptAt, deliveredAt, smtpResponse, bounceType, bounceCode }
  return {
    ...state,
    deliveryId: id,
    seq,
    organizationId,
    mxHost: null,
    tls: null,
    isSoftBounceReported: false,
    attempt,
  }
}
