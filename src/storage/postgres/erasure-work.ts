import type { Delivery } from '../../model/delivery.ts'
import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../os/ids.ts'
import { partition } from '../../os/partition.ts'
import { addressOfHash, naming, withoutAddress, withoutRecipient } from '../erased-address.ts'
import { createSenderAddress } from '../message-rows.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import { type Markable, marksOf } from '../search-tokens.ts'
import { textArray } from './arrays.ts'
import { cancelAll, WAITING_COLUMNS, type WaitingDelivery } from './cancel.ts'
import { removeContentInside } from './content-removal.ts'
import type { Group } from './group.ts'
import { DELIVERY_COLUMNS, DELIVERY_STATE } from './message-row.ts'
import { counting, events as eventRecords, inboundMessages, messages as messageRecords } from './retention.ts'
import { foldedSubject, searchVector } from './search-words.ts'
import type { Statements } from './transactions.ts'
import type { Usage } from './usage.ts'

/** Messages of one step. */
const MESSAGES_MAX = 10
const EVENTS_MAX = 100
/** A stored response of a batch has a hundred kilobytes. */
const RESPONSES_MAX = 20
const UNSUBSCRIBABLES_MAX = 200

const MESSAGES_TO = `select distinct message_id as id from deliveries
  where organization_id = $1 and address = $2 and message_id > $3 order by message_id limit ${MESSAGES_MAX}`
const MESSAGE = `select id, created_at::float8 as "createdAt", tags, recipients, subject, metadata, sender,
    template_id as "templateId", domain_id as "domainId", mode, stream, message_id_header as "messageIdHeader",
    (select split_part(lexeme, '=', 1) from unnest(words) where position('=' in lexeme) > 0 limit 1) as code
  from messages where id = $1`
const WAITING = `select ${WAITING_COLUMNS} from delivery_queue where message_id = $1 for update`
const LOCK_DELIVERIES = 'select id, address, email from deliveries where message_id = $1 order by position for update'
const STATES = `select ${DELIVERY_COLUMNS} from deliveries d ${DELIVERY_STATE} where d.message_id = $1`
const UNQUEUE = 'delete from delivery_queue where message_id = $1'
const EVENTS_OF = `select id, place::float8 as place from events where message_id = $1 limit ${EVENTS_MAX}`
const ERASE_MESSAGE = `update messages set recipients = $2, subject = $3, metadata = $4, folded_subject = $5,
    words = $6::tsvector where id = $1`
const ERASE_DELIVERIES = [
  `update deliveries set email = '${ERASED_ADDRESS}', address = '${ERASED_ADDRESS}', queue = '', smtp_response = null
    where id = any($1::text[])`,
  `update delivery_outcomes set attempt = null, smtp_response = null, mx_host = null, tls = null
    where delivery_id = any($1::text[])`,
  'delete from reports where delivery_id = any($1::text[])',
]
const EVENTS = `select id, place::float8 as place, message_id as "messageId", body from events
  where organization_id = $1 and (place, id) > ($2::bigint, $3) order by place, id limit ${EVENTS_MAX}`
const INBOUND = `select m.id, m.content_id as "contentId" from inbound_addresses a
    join inbound_messages m on m.id = a.message_id
  where a.organization_id = $1 and a.field = $2 and a.address = $3 order by a.message_id limit ${MESSAGES_MAX}`
const RESPONSES = `select encode(key_hash, 'hex') as key, body from idempotency
  where organization_id = $1 and key_hash > decode($2, 'hex') order by key_hash limit ${RESPONSES_MAX}`
const REMOVE_RESPONSES = counting(`delete from idempotency where organization_id = $1
    and key_hash in (select decode(key, 'hex') from unnest($3::text[]) key)
  returning organization_id, octet_length(body) as bytes`)
const UNSUBSCRIBABLES = `select delivery_id as id, organization_id as "organizationId", email from unsubscribables
  where delivery_id > $1 order by delivery_id limit ${UNSUBSCRIBABLES_MAX}`
const REMOVE_UNSUBSCRIBABLES = 'delete from unsubscribables where delivery_id = any($1::text[])'
const SUPPRESSIONS = 'select id from suppressions where organization_id = $1 and email = $2 for update'
const HASH_SUPPRESSION = `update suppressions s set email = $2, message_id = null, evidence = null
  where id = $1 and not exists (select from suppressions o where o.organization_id = s.organization_id
    and o.email = $2 and o.domain_id = s.domain_id and o.mode = s.mode)`
const REMOVE_SUPPRESSION = 'delete from suppressions where id = $1'

/** An erasure in progress, for one of its steps. */
export interface ErasureJob {
  organizationId: string
  /** Folded. */
  address: string
  addressHash: string
  createdAt: number
  now: number
}

/** One kind of record: erases some after a place ('' = from the beginning), inside a change. */
export type ErasureWork = (group: Group, job: ErasureJob, after: string) => Promise<ErasureStep>

/** What an erasure does, in order. Suppressions come last: an attempt that ends meanwhile may add one. */
export function erasureWork(usage: Usage): readonly ErasureWork[] {
  return [messages, events, inbound('from'), inbound('to'), responses, unsubscribables, suppressionWork(usage)]
}

const messages: ErasureWork = async (group, job, after) => {
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
  }
  return rows.length < MESSAGES_MAX ? { ...step, after: null } : step
}

/** `more`: it has more events than one step removes. `waits`: it must be looked at again. */
async function eraseMessage(
  group: Group,
  row: MessageRow,
  job: ErasureJob,
): Promise<'removed' | 'shared' | 'more' | 'waits'> {
  const { statements } = group
  const { query, run } = statements
  const waiting = await query<WaitingDelivery>(WAITING, [row.id])
  const deliveries = await query<DeliveryRow>(LOCK_DELIVERIES, [row.id])
  const [own, others] = partition(deliveries, ({ address }) => address === job.address)
  const ids = new Set(own.map(({ id }) => id))
  const open = waiting.filter(({ id }) => ids.has(id))
  if (open.some(({ worker }) => worker !== null)) return 'waits'
  if (others.length === 0) {
    const found = await query<{ id: string; place: number }>(EVENTS_OF, [row.id])
    if (found.length > 0 && !(await removeEvents(statements, found, job))) return 'more'
    if (found.length === EVENTS_MAX) return 'more'
    await run(UNQUEUE, [row.id])
    await messageRecords.remove(statements, [{ ...row, isYoung: false, isOver: true, bytes: 0 }], requestOf(job))
    return 'removed'
  }
  if (open.length > 0) {
    // Their outcomes are written at the end of the transaction; the next pass erases.
    await cancelAll(group, open, await query<Delivery>(STATES, [row.id]), job.now)
    return 'waits'
  }
  if (waiting.length > 0) return 'waits'
  await removeContentInside(statements, { id: row.id, reason: 'erasure', now: job.now })
  await eraseTexts(statements, row, { address: job.address, others })
  for (const text of ERASE_DELIVERIES) await run(text, [textArray([...ids])])
  return 'shared'
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

const events: ErasureWork = async ({ statements }, job, after) => {
  const names = naming(job.address)
  const [place = '0', id = ''] = after.split(' ')
  const rows = await statements.query<{ id: string; place: number; messageId: string | null; body: string }>(EVENTS, [
    job.organizationId,
    Number(place),
    id,
  ])
  const later = firstId('msg', job.createdAt + 1)
  const found = rows.filter(({ messageId, body }) => (messageId === null || messageId < later) && names(body))
  if (found.length > 0 && !(await removeEvents(statements, found, job))) return { after: after || '0 ' }
  const last = rows.at(-1)
  const isEnd = last === undefined || rows.length < EVENTS_MAX
  return { after: isEnd ? null : `${last.place} ${last.id}`, removed: { events: found.length } }
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

const inbound =
  (field: 'from' | 'to'): ErasureWork =>
  async ({ statements }, job) => {
    const found = await statements.query<{ id: string; contentId: string }>(INBOUND, [
      job.organizationId,
      field,
      job.address,
    ])
    const rows = found.map((row) => ({ ...row, isYoung: false, isOver: true, bytes: 0 }))
    if (rows.length > 0) await inboundMessages.remove(statements, rows, requestOf(job))
    return { after: rows.length < MESSAGES_MAX ? null : 'more', removed: { inboundMessages: rows.length } }
  }

const responses: ErasureWork = async ({ statements }, { organizationId, address }, after) => {
  const names = naming(address)
  const rows = await statements.query<{ key: string; body: Uint8Array }>(RESPONSES, [organizationId, after])
  const found = rows.filter(({ body }) => names(Buffer.from(body).toString()))
  if (found.length > 0) {
    await statements.run(REMOVE_RESPONSES, [organizationId, statements.laneId, textArray(found.map(({ key }) => key))])
  }
  return {
    after: rows.length < RESPONSES_MAX ? null : (rows.at(-1)?.key ?? null),
    removed: { responses: found.length },
  }
}

const unsubscribables: ErasureWork = async ({ statements }, { organizationId, address }, after) => {
  const rows = await statements.query<{ id: string; organizationId: string; email: string }>(UNSUBSCRIBABLES, [after])
  const own = rows.filter((row) => row.organizationId === organizationId && suppressionKey(row.email) === address)
  if (own.length > 0) await statements.run(REMOVE_UNSUBSCRIBABLES, [textArray(own.map(({ id }) => id))])
  return { after: rows.length < UNSUBSCRIBABLES_MAX ? null : (rows.at(-1)?.id ?? null) }
}

const suppressionWork =
  (usage: Usage): ErasureWork =>
  async ({ statements }, { organizationId, address, addressHash }) => {
    const rows = await statements.query<{ id: string }>(SUPPRESSIONS, [organizationId, address])
    for (const { id } of rows) {
      if ((await statements.run(HASH_SUPPRESSION, [id, addressOfHash(addressHash)])) > 0) continue
      // An earlier erasure left one of the same scope.
      await statements.run(REMOVE_SUPPRESSION, [id])
      await usage.add(statements, organizationId, 'suppressions', -1)
    }
    return { after: null, removed: { suppressions: rows.length } }
  }

/** Nothing of it is kept for unsubscribe requests, and no range of the search is removed. */
const requestOf = ({ organizationId }: ErasureJob) => ({
  organizationId,
  before: 0,
  unsubscribableSince: Number.MAX_SAFE_INTEGER,
  timeIsUp: () => false,
})

interface DeliveryRow {
  id: string
  address: string
  email: string
}

type MessageRow = Omit<Markable, 'senderAddress'> & {
  id: string
  createdAt: number
  tags: string
  recipients: string
  subject: string
  metadata: string
  sender: string
  /** Of its range in the search index. */
  code: string | null
}
