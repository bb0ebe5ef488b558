import type { Delivery } from '../../model/delivery.ts'
import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { firstId } from '../../os/ids.ts'
import { partition } from '../../os/partition.ts'
import { naming, withoutAddress, withoutRecipient } from '../erased-address.ts'
import { ERASED_AT_ONCE, type ErasureJob } from '../erasure-rows.ts'
import { createSenderAddress } from '../message-rows.ts'
import type { ErasureWork } from '../records/erasure-works.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import { foldedSubject } from '../search-text.ts'
import { type Markable, marksOf } from '../search-tokens.ts'
import { textArray } from './arrays.ts'
import { cancelUnreported, WAITING_COLUMNS, type WaitingDelivery } from './cancel.ts'
import { removeContentInside } from './content-removal.ts'
import type { Group } from './group.ts'
import { additions, native } from './inside.ts'
import { DELIVERY_COLUMNS, DELIVERY_STATE } from './message-row.ts'
import { events as eventRecords, inboundMessages, messages as messageRecords } from './retention.ts'
import { searchVector } from './search-words.ts'
import type { Statements } from './transactions.ts'

const MESSAGES_TO = `select distinct message_id as id from deliveries
  where organization_id = $1 and address = $2 and message_id > $3 order by message_id limit ${ERASED_AT_ONCE.messages}`
const MESSAGE = `select id, organization_id as "organizationId", created_at::float8 as "createdAt", tags, recipients, subject, metadata, sender,
    template_id as "templateId", domain_id as "domainId", mode, stream, message_id_header as "messageIdHeader",
    (select split_part(lexeme, '=', 1) from unnest(words) where position('=' in lexeme) > 0 limit 1) as code
  from messages where id = $1`
const WAITING = `select ${WAITING_COLUMNS} from delivery_queue where message_id = $1 for update`
const LOCK_DELIVERIES = 'select id, address, email from deliveries where message_id = $1 order by position for update'
const STATES = `select ${DELIVERY_COLUMNS} from deliveries d ${DELIVERY_STATE} where d.message_id = $1`
const UNQUEUE = 'delete from delivery_queue where message_id = $1'
const EVENTS_OF = `select id, place::float8 as place from events where message_id = $1 limit ${ERASED_AT_ONCE.events}`
const ERASE_MESSAGE = `update messages set recipients = $2, subject = $3, metadata = $4, folded_subject = $5,
    words = $6::tsvector where id = $1`
const ERASE_DELIVERIES = [
  `update deliveries set email = '${ERASED_ADDRESS}', address = '${ERASED_ADDRESS}', queue = '', smtp_response = null
    where id = any($1::text[])`,
  `update delivery_outcomes set attempt = null, smtp_response = null, mx_host = null, tls = null
    where delivery_id = any($1::text[])`,
  'delete from reports where delivery_id = any($1::text[])',
]
const NEWEST_EVENT = `select coalesce(max(place), 0)::float8 as place from events where organization_id = $1`
const EVENTS = `select id, place::float8 as place, message_id as "messageId", body from events
  where organization_id = $1 and (place, id) > ($2::bigint, $3) and place <= $4::bigint
  order by place, id limit ${ERASED_AT_ONCE.events}`
const INBOUND = `select m.id, m.content_id as "contentId", m.forwarded_as as "forwardedAs",
    m.received_at::float8 as "receivedAt"
  from inbound_addresses a join inbound_messages m on m.id = a.message_id
  where a.organization_id = $1 and a.field = $2 and a.address = $3 and a.message_id > $4
  order by a.message_id limit ${ERASED_AT_ONCE.inbound}`
const NOT_FORWARDED = `select id, received_at::float8 as "receivedAt", not_forwarded as targets from inbound_messages
  where (organization_id, id) > ($1, $2) and (organization_id, id) < ($1, '~')
  order by organization_id, id limit ${ERASED_AT_ONCE.notForwarded}`
const SET_NOT_FORWARDED = 'update inbound_messages set not_forwarded = $2 where id = $1'

/** Erases messages, events, and inbound mail. */
export function eraseMail(): readonly ErasureWork[] {
  return [messages, events, inbound('from'), inbound('to'), notForwarded].map(performed)
}

/** Erases some records of one kind, as ErasureWork. */
type NativeWork = (group: Group, job: ErasureJob, after: string) => Promise<ErasureStep>

const performed =
  (work: NativeWork): ErasureWork =>
  (job, after) =>
    native(({ statements, add }) => work({ statements, add: additions(add) }, job, after))

const messages: NativeWork = async (group, job, after) => {
  const { query } = group.statements
  const rows = await query<{ id: string }>(MESSAGES_TO, [job.organizationId, job.address, after])
  const step = { after, removed: { messages: 0, sharedMessages: 0 }, isWaiting: false }
  for (const { id } of rows) {
    const [row] = await query<MessageRow>(MESSAGE, [id])
    if (row !== undefined && row.createdAt <= job.createdAt) {
      const result = await eraseMessage(group, row, job)
      if (result === 'more') return step
      if (result === 'waits') step.isWaiting = true
      if (result === 'removed') step.removed.messages++
      if (result === 'shared') step.removed.sharedMessages++
    }
    step.after = id
    if (job.timeIsUp()) return step
  }
  return rows.length < ERASED_AT_ONCE.messages ? { ...step, after: null } : step
}

/** `more`: it has more events than one step removes. `waits`: it must be looked at again. */
type Erased = 'removed' | 'shared' | 'more' | 'waits'

async function eraseMessage(group: Group, row: MessageRow, job: ErasureJob): Promise<Erased> {
  const { query, run } = group.statements
  const { waiting, deliveries } = await lockMessage(group.statements, row.id)
  const [own, others] = partition(deliveries, ({ address }) => address === job.address)
  if (others.length === 0) return removeWhole(group.statements, row, { waiting, job })
  const ids = new Set(own.map(({ id }) => id))
  const open = waiting.filter(({ id }) => ids.has(id))
  if (open.some(({ worker }) => worker !== null)) return 'waits'
  if (open.length > 0) {
    // Without events, which would name the address. The outcomes are written at the end of the transaction; the next pass
    // erases.
    await cancelUnreported(group, open, await query<Delivery>(STATES, [row.id]))
    return 'waits'
  }
  if (waiting.length > 0) return 'waits'
  await removeContentInside(group.statements, { id: row.id, reason: 'erasure', now: job.now })
  await eraseTexts(group.statements, row, { address: job.address, others })
  for (const text of ERASE_DELIVERIES) await run(text, [textArray([...ids])])
  return 'shared'
}

/** Message → its waiting deliveries and all of them, locked until the transaction ends. */
async function lockMessage({ query }: Statements, id: string) {
  const waiting = await query<WaitingDelivery>(WAITING, [id])
  return { waiting, deliveries: await query<DeliveryRow>(LOCK_DELIVERIES, [id]) }
}

/** Removes a message with its events. */
async function removeWhole(
  statements: Statements,
  row: MessageRow,
  { waiting, job }: { waiting: readonly WaitingDelivery[]; job: ErasureJob },
): Promise<'removed' | 'more' | 'waits'> {
  if (waiting.some(({ worker }) => worker !== null)) return 'waits'
  const found = await statements.query<{ id: string; place: number }>(EVENTS_OF, [row.id])
  if (found.length > 0 && !(await removeEvents(statements, found, job))) return 'more'
  if (found.length === ERASED_AT_ONCE.events) return 'more'
  await statements.run(UNQUEUE, [row.id])
  await messageRecords.remove(statements, [{ ...row, isYoung: false, isOver: true, bytes: 0 }], requestOf(job))
  return 'removed'
}

async function eraseTexts(
  { run }: Statements,
  row: MessageRow,
  { address, others }: { address: string; others: readonly DeliveryRow[] },
): Promise<void> {
  const subject = withoutAddress(row.subject, address)
  const metadata = withoutAddress(row.metadata, address)
  const emails = others.map(({ email }) => email)
  const senderAddress = createSenderAddress()(row.sender)
  const words = searchVector(
    row.code ?? '',
    { subject, sender: row.sender, emails },
    marksOf({ ...row, metadata, senderAddress }),
  )
  const recipients = withoutRecipient(row.recipients, address)
  await run(ERASE_MESSAGE, [row.id, recipients, subject, metadata, foldedSubject(subject), words])
}

/** Last place, and place and ID of the event read last. The version before wrote others. */
const CURSOR = /^(\d{1,16}) (\d{1,16}) (\S*)$/

/** Up to the newest event when it begins, so that an organization whose events keep coming has an end too. */
const events: NativeWork = async ({ statements }, job, after) => {
  const names = naming(job.address)
  const known = CURSOR.exec(after)
  const [newest] = known === null ? await statements.query<{ place: number }>(NEWEST_EVENT, [job.organizationId]) : []
  const [, end = String(newest?.place ?? 0), place = '0', id = ''] = known ?? []
  const values = [job.organizationId, Number(place), id, Number(end)]
  const rows = await statements.query<{ id: string; place: number; messageId: string | null; body: string }>(
    EVENTS,
    values,
  )
  const later = firstId('msg', job.createdAt + 1)
  const found = rows.filter(({ messageId, body }) => (messageId === null || messageId < later) && names(body))
  if (found.length > 0 && !(await removeEvents(statements, found, job))) return { after: `${end} ${place} ${id}` }
  const last = rows.at(-1)
  const isEnd = last === undefined || rows.length < ERASED_AT_ONCE.events
  return { after: isEnd ? null : `${end} ${last.place} ${last.id}`, removed: { events: found.length } }
}

/** False: they have more webhook deliveries than one step removes. */
function removeEvents(
  statements: Statements,
  rows: readonly { id: string; place: number }[],
  job: ErasureJob,
): Promise<boolean> {
  const removed = rows.map(({ id, place }) => ({ id, place, createdAt: 0, isYoung: false, isOver: true, bytes: 0 }))
  return eventRecords.remove(statements, removed, requestOf(job))
}

/** Removes inbound messages, each with the message that forwarded it. */
const inbound =
  (field: 'from' | 'to'): NativeWork =>
  async ({ statements }, job, after) => {
    const { organizationId, address, createdAt } = job
    const from = after === 'more' ? '' : after // of the version before
    const rows = await statements.query<InboundRow>(INBOUND, [organizationId, field, address, from])
    const step = { after, removed: { inboundMessages: 0, messages: 0 }, isWaiting: false }
    for (const row of rows.filter(({ receivedAt }) => receivedAt <= createdAt)) {
      const result = row.forwardedAs === null ? 'none' : await removeForward(statements, row.forwardedAs, job)
      if (result === 'more') return step
      if (result === 'waits') step.isWaiting = true
      else {
        if (result === 'removed') step.removed.messages++
        const found = [{ ...row, isYoung: false, isOver: true, bytes: 0 }]
        await inboundMessages.remove(statements, found, requestOf(job))
        step.removed.inboundMessages++
      }
      step.after = row.id
      if (job.timeIsUp()) return step
    }
    const last = rows.at(-1)
    return { ...step, after: last === undefined || rows.length < ERASED_AT_ONCE.inbound ? null : last.id }
  }

async function removeForward(
  statements: Statements,
  id: string,
  job: ErasureJob,
): Promise<'removed' | 'more' | 'waits' | 'none'> {
  const [row] = await statements.query<MessageRow>(MESSAGE, [id])
  if (row === undefined || row.organizationId !== job.organizationId) return 'none'
  const { waiting } = await lockMessage(statements, id)
  return removeWhole(statements, row, { waiting, job })
}

/** Mail to others that a route did not forward to the address. */
const notForwarded: NativeWork = async ({ statements }, { organizationId, address, createdAt }, after) => {
  const names = naming(address)
  const rows = await statements.query<{ id: string; receivedAt: number; targets: string | null }>(NOT_FORWARDED, [
    organizationId,
    after,
  ])
  for (const { id, targets } of rows) {
    if (targets !== null && names(targets)) {
      await statements.run(SET_NOT_FORWARDED, [id, withoutAddress(targets, address)])
    }
  }
  const last = rows.at(-1)
  const isEnd = rows.length < ERASED_AT_ONCE.notForwarded || rows.every(({ receivedAt }) => receivedAt > createdAt)
  return { after: isEnd || last === undefined ? null : last.id }
}

/** Nothing of it is kept for unsubscribe requests, and no range of the search is removed. */
const requestOf = ({ organizationId }: ErasureJob) => ({
  organizationId,
  before: 0,
  unsubscribableSince: Number.MAX_SAFE_INTEGER,
  timeIsUp: () => false,
})

interface InboundRow {
  id: string
  contentId: string
  /** ID of the message that forwarded it. */
  forwardedAs: string | null
  receivedAt: number
}

interface DeliveryRow {
  id: string
  address: string
  email: string
}

type MessageRow = Omit<Markable, 'senderAddress'> & {
  id: string
  organizationId: string
  createdAt: number
  tags: string
  recipients: string
  subject: string
  metadata: string
  sender: string
  /** Of its range in the search index. */
  code: string | null
}
