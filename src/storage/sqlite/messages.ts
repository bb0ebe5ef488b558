import type { Attempt, Delivery } from '../../model/delivery.ts'
import { isFinal, messageStatus } from '../../model/message.ts'
import { cancelledEvent } from '../../model/on-demand-event.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { bytesOf, type Needs, needsOf } from '../accepted-needs.ts'
import type { DueIndex } from '../due-index.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { Messages } from '../store.ts'
import type { AddMessageInside } from './add-message.ts'
import { type AttemptRow, toAttempt } from './attempts.ts'
import type { ContentParts } from './content-parts.ts'
import type { RememberInside } from './database.ts'
import { type Connection, one } from './driver.ts'
import type { LargeContents } from './large-contents.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  toDelivery,
  toMessage,
} from './message-row.ts'
import type { Reader } from './reader.ts'
import type { Search } from './search.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const VOLUME = 'select accepted from volumes where organization_id = ? and month = ?'
const VOLUMES = 'select month, accepted from volumes where organization_id = ? order by month desc'
const ADD_VOLUME = `insert into volumes (organization_id, month, accepted) values (?, ?, ?)
  on conflict do update set accepted = accepted + excluded.accepted`
const GET = `select ${MESSAGE_COLUMNS} from messages m where m.id = ?`
const CONTENT = `select m.number, c.content as first from messages m join message_contents c on c.message_number = m.number
  where m.id = ?`
const EXISTING = `select m.id from messages m join message_contents c on c.message_number = m.number
  where m.id in (select value from json_each(?))`
const DELIVERIES = `select ${DELIVERY_COLUMNS} from messages m join deliveries d on d.message_number = m.number
  where m.id = ? order by d.position`
const ATTEMPTS = `select d.email, a.number, a.started_at as startedAt, a.duration_ms as durationMs, a.outcome, a.facts
  from messages m join deliveries d on d.message_number = m.number join attempts a on a.delivery_number = d.number
  where m.id = ? order by a.started_at, d.position, a.number`
const CANCEL = `update deliveries set status = 'cancelled', next_attempt_at = null where number = ?`
const RESCHEDULE = 'update deliveries set next_attempt_at = ? where number = ?'
// The time limit of a message counts from its due time.
const SET_SCHEDULED_AT = 'update messages set expires_at = expires_at + ? - scheduled_at, scheduled_at = ? where id = ?'
const SET_STATUS = 'update messages set status = ? where id = ?'

export function sqliteMessages(
  db: Connection,
  writer: Writer,
  inside: {
    /** Writer for new messages. */
    taking: Writer
    reader: Reader
    search: Search
    parts: ContentParts
    large: LargeContents
    addMessage: AddMessageInside
    onDemand: OnDemandEvents
    remember: RememberInside
    dueIndex: DueIndex
    usage: Usage
    storedBytes: StoredBytes
    removal: Pick<Messages, 'removeContent' | 'contentRemoval' | 'redactDue'>
  },
): Messages {
  const existing = db.prepare<unknown[], string>(EXISTING).pluck()
  const volume = db.prepare<unknown[], number>(VOLUME).pluck()
  const volumes = db.prepare<unknown[], { month: string; accepted: number }>(VOLUMES)
  const addVolume = db.prepare(ADD_VOLUME)
  const get = db.prepare<unknown[], MessageRow>(GET)
  const content = db.prepare<unknown[], { number: number; first: Uint8Array }>(CONTENT)
  const deliveries = db.prepare<unknown[], DeliveryRow>(DELIVERIES)
  const attempts = db.prepare<unknown[], AttemptRow & { email: string }>(ATTEMPTS)
  const cancel = db.prepare(CANCEL)
  const reschedule = db.prepare(RESCHEDULE)
  const setScheduledAt = db.prepare(SET_SCHEDULED_AT)
  const setStatus = db.prepare(SET_STATUS)

  const usedVolume = (organizationId: string, month: string) => volume.get(organizationId, month) ?? 0
  const deliveryRows = (id: string) => deliveries.all(id)
  /** The limit of the plan that these messages would exceed; null if there is none. */
  const reached = (organizationId: string, month: string, { tests, scheduled }: Needs, bytes: () => number) => {
    const { usage, storedBytes } = inside
    return (
      usage.reached(organizationId, 'test_messages_per_month', tests, () =>
        usage.used(organizationId, 'test_messages', month),
      ) ??
      usage.reached(organizationId, 'scheduled_messages', scheduled, () =>
        usage.used(organizationId, 'scheduled_messages'),
      ) ??
      (storedBytes.isLimited(organizationId) ? storedBytes.reached(organizationId, bytes()) : null)
    )
  }

  return {
    ...inside.removal,
    accept: (accepted, { organizationId, month, count, limit }, record) => {
      const needs = needsOf(accepted)
      const bytes = () => bytesOf(accepted, record)
      const exceeded = () => {
        const used = count === 0 || limit === UNLIMITED ? 0 : usedVolume(organizationId, month)
        const isExceeded = count > 0 && limit !== UNLIMITED && used + count > limit
        return isExceeded ? { kind: 'volume_exceeded' as const, used } : reached(organizationId, month, needs, bytes)
      }
      const take = () =>
        inside.taking.write(() => {
          const refusal = exceeded()
          if (refusal !== null) return refusal
          if (count > 0) addVolume.run(organizationId, month, count)
          if (needs.tests > 0) inside.usage.add(organizationId, 'test_messages', needs.tests, month)
          for (const each of accepted) inside.addMessage(each)
          inside.remember(record)
          return { kind: 'accepted' as const }
        })
      const contents = accepted.map(({ content }) => content)
      return inside.large.ahead(contents, take, exceeded)
    },
    volume: async (organizationId, month) => usedVolume(organizationId, month),
    volumes: async (organizationId) => volumes.all(organizationId),
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toMessage(row)
    },
    list: async (filter, page) => {
      if (filter.text !== null) await inside.search.catchUp()
      return inside.reader.ask('messages', filter.organizationId, filter, page)
    },
    existing: async (ids) => new Set(existing.all(JSON.stringify(ids))),
    content: async (id) => {
      const row = content.get(id)
      return row === undefined ? null : inside.parts.wholeInTurns('content', row.number, row.first)
    },
    deliveries: async (id): Promise<Delivery[]> => deliveryRows(id).map(toDelivery),
    attempts: async (id): Promise<{ email: string; attempt: Attempt }[]> =>
      attempts.all(id).map((row) => ({
        email: row.email,
        attempt: toAttempt(row),
      })),
    cancel: (id, now) =>
      writer.write(() => {
        const rows = deliveryRows(id)
        const open = rows.filter((row) => !isFinal(row.status))
        const hasLeft = rows.some(
          (row) => row.status === 'delivered' || row.status === 'bounced' || row.worker !== null,
        )
        if (open.length === 0 || hasLeft) return 'invalid_state'
        const message = toMessage(one(get, id))
        for (const row of open) {
          cancel.run(row.number)
          inside.onDemand.offer(cancelledEvent(message, row, now))
        }
        setStatus.run(messageStatus(deliveryRows(id).map((row) => row.status)), id)
        return 'cancelled'
      }),
    reschedule: (id, at, now) =>
      writer.write(() => {
        const open = deliveryRows(id).filter((row) => !isFinal(row.status))
        const isScheduled = open.every((row) => row.status === 'scheduled' && row.worker === null && row.attempts === 0)
        if (open.length === 0 || !isScheduled) return 'invalid_state'
        for (const row of open) {
          reschedule.run(Math.max(at, now), row.number)
          inside.dueIndex.offer(row.queue, Math.max(at, now))
        }
        setScheduledAt.run(at, at, id)
        return 'rescheduled'
      }),
  }
}
