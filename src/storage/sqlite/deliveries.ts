import { trackingHostOf } from '../../model/domain.ts'
import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type DeliveryStatus, isFinal, messageStatus } from '../../model/message.ts'
import { type DueIndex, type DueTime, dueTimeOf, mayStart, NO_END, refill } from '../due-index.ts'
import { tlsOf } from '../message-rows.ts'
import type { Engagement } from '../records/engagement.ts'
import type { ClaimedDelivery, Deliveries, LateRecord } from '../store.ts'
import type { AddAttemptInside } from './attempts.ts'
import { claimFrom } from './claim.ts'
import type { ContentParts } from './content-parts.ts'
import { type Connection, one } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { ForeignChanges } from './foreign.ts'
import { leasesOf } from './leases.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  toDelivery,
  toMessage,
} from './message-row.ts'
import type { Reports } from './reports.ts'
import type { DomainCache } from './settings.ts'
import type { SuppressInside } from './suppressions.ts'
import type { Writer } from './writer.ts'

// Goes from queue to queue along the due index: its cost is the number of queues, not of deliveries.
const DUE_TIMES = `with recursive queues (key) as (
    select min(queue) from deliveries where next_attempt_at is not null
    union all
    select (select min(queue) from deliveries where next_attempt_at is not null and queue > key)
      from queues where key is not null)
  select key, (select min(next_attempt_at) from deliveries where queue = key and next_attempt_at is not null) as at
  from queues where key is not null`
const NEXT_OF = 'select min(next_attempt_at) from deliveries where queue = +? and next_attempt_at is not null'
const DUE = `select number, message_number as messageNumber from deliveries
  where queue = +? and next_attempt_at <= ? order by next_attempt_at limit +?`
const EXPIRED = `select d.number, d.message_number as messageNumber
  from messages m join deliveries d on d.message_number = m.number
  where m.expires_at <= ? and m.status in ('scheduled', 'queued', 'deferred')
    and d.worker is null and d.next_attempt_at <= ?
  order by m.expires_at limit ?`
const LEASE = `update deliveries set attempts = attempts + 1, last_attempt_at = ?, worker = ?, next_attempt_at = ${NO_END}
  where number = ?`
const DELIVERY = `select ${DELIVERY_COLUMNS} from deliveries d join messages m on m.number = d.message_number
  where d.number = +?`
const MESSAGE = `select ${MESSAGE_COLUMNS} from messages m where m.number = ?`
const CONTENT = 'select content from message_contents where message_number = ?'
const CONTENT_OF = `select c.message_number as number, c.content as first
  from messages m join message_contents c on c.message_number = m.number where m.id = ?`
const HELD = `select number, message_number as messageNumber, queue from deliveries
  where id = ? and worker = ? and attempts = ?`
const SETTLE = `update deliveries set status = ?, worker = null, next_attempt_at = ?, delivered_at = ?, smtp_response = ?,
    bounce_type = ?, bounce_code = ?, mx_host = ?, tls = ?, soft_bounce_told = max(soft_bounce_told, ?),
    opens = opens + ?, clicks = clicks + ?
  where number = ?`
const STATUSES = 'select status from deliveries where message_number = ?'
const SET_MESSAGE_STATUS = 'update messages set status = ? where number = ? and status <> ?'
const LAST_RECORDED = `,
    last_attempt_at = (select max(a.started_at) from attempts a where a.delivery_number = d.number)`
const SUPPRESS = `update deliveries as d set status = 'suppressed', worker = null, next_attempt_at = null,
    attempts = attempts - 1${LAST_RECORDED} where number = ?`
// An attempt that was counted but has no record ended with its process. After the first two the delivery is retried at
// once; from the third on it waits 5 s, 20 s, 45 s, so that a message that crashes the process lets the server run in
// between.
const PAUSE_MS = `(select 5000 * max(0, d.attempts - count(*) - 2) * max(0, d.attempts - count(*) - 2)
    from attempts a where a.delivery_number = d.number)`
const WAITS_SINCE =
  'coalesce(d.last_attempt_at, (select m.created_at from messages m where m.number = d.message_number))'
const GET = `select ${DELIVERY_COLUMNS}, d.message_number as messageNumber
  from deliveries d join messages m on m.number = d.message_number
  where d.id = +? and d.address <> '${ERASED_ADDRESS}'`
// A worker that is attempting it loses its lease.
const END_LATE = `update deliveries set status = ?, smtp_response = ?, bounce_type = ?, bounce_code = ?,
    delivered_at = iif(?, coalesce(delivered_at, ?), null), worker = null, next_attempt_at = null
  where number = ?`
const CHANGE_LATE =
  'update deliveries set status = ?, smtp_response = ?, bounce_type = ?, bounce_code = ? where number = ?'

export function sqliteDeliveries(
  db: Connection,
  writer: Writer,
  inside: {
    domains: DomainCache
    parts: ContentParts
    dueIndex: DueIndex
    foreign: ForeignChanges
    addAttempt: AddAttemptInside
    append: AppendInside
    suppress: SuppressInside
    reports: Reports
  },
): Omit<Deliveries, keyof Engagement> {
  const dueTimes = db.prepare<unknown[], DueTime>(DUE_TIMES)
  const nextOf = db.prepare<unknown[], number | null>(NEXT_OF).pluck()
  const due = db.prepare<unknown[], DueRow>(DUE)
  const expired = db.prepare<unknown[], DueRow>(EXPIRED)
  const contentOfId = db.prepare<unknown[], { number: number; first: Uint8Array }>(CONTENT_OF)
  const held = db.prepare<unknown[], HeldRow>(HELD)
  const settle = db.prepare(SETTLE)
  const suppress = db.prepare(SUPPRESS)
  const statuses = db.prepare<unknown[], DeliveryStatus>(STATUSES).pluck()
  const setMessageStatus = db.prepare(SET_MESSAGE_STATUS)
  const { dueIndex, foreign } = inside

  const readDueTimes = () => {
    refill(dueIndex, dueTimes.all())
  }
  readDueTimes()
  foreign.onChange(readDueTimes)

  const claimed = createClaimed(db, inside)
  const settleMessage = (messageNumber: number) => {
    const whole = messageStatus(statuses.all(messageNumber))
    setMessageStatus.run(whole, messageNumber, whole)
  }

  return {
    claimDue: (request) =>
      claimFrom(writer, dueIndex, request, {
        take: (queue, most, dueUntil) => due.all(queue, dueUntil, most).map((row) => claimed(row, request)),
        nextAt: (queue) => dueTimeOf(nextOf.get(queue) ?? null),
      }),
    claimExpired: async (request) => {
      const { now, limit } = request
      if (expired.get(now, now, 1) === undefined) return []
      return writer.write(() =>
        expired.all(now, now, limit).map((row) => claimed(row, { ...request, contentBytes: 0 })),
      )
    },
    nextDueAt: async (look, now) => {
      foreign.check()
      return dueIndex.nextAt(mayStart(look), now)
    },
    planClaims: (request) =>
      writer.before(() => {
        foreign.check()
        return dueIndex.plan(request)
      }),
    putBack: async (plan) => dueIndex.putBack(plan),
    freed: async (blockers) => blockers.forEach(dueIndex.freed),
    // One node handles every queue.
    shareLimits: async () => {},
    content: async (messageId) => {
      const row = contentOfId.get(messageId)
      return row === undefined ? null : inside.parts.wholeInTurns('content', row.number, row.first)
    },
    record: (record) =>
      writer.write(() => {
        const { deliveryId, worker, attempt, outcome, status } = record
        const row = held.get(deliveryId, worker, attempt.number)
        if (row === undefined) return 'lease_lost'
        const isBounce = outcome.kind === 'bounced'
        settle.run(
          status,
          record.nextAttemptAt,
          status === 'delivered' ? record.now : null,
          record.smtpResponse,
          isBounce ? outcome.bounceType : null,
          isBounce ? outcome.code : null,
          attempt.mxHost,
          tlsOf(attempt),
          Number(record.isSoftBounceReported),
          record.opens ?? 0,
          record.clicks ?? 0,
          row.number,
        )
        inside.addAttempt(row.number, attempt)
        settleMessage(row.messageNumber)
        for (const event of record.events) inside.append(event)
        if (record.suppression !== null) inside.suppress(record.suppression)
        if (record.nextAttemptAt !== null) dueIndex.offer(row.queue, record.nextAttemptAt)
        return 'recorded'
      }),
    recordSuppressed: ({ id, worker, attempt }, event) =>
      writer.write(() => {
        const row = held.get(id, worker, attempt)
        if (row === undefined) return 'lease_lost'
        suppress.run(row.number)
        settleMessage(row.messageNumber)
        inside.append(event)
        return 'recorded'
      }),
    ...leasesOf(db, writer, dueIndex, {
      table: 'deliveries',
      key: 'queue',
      onRelease: LAST_RECORDED,
      pauseMs: PAUSE_MS,
      isDated: `d.status = 'scheduled'`,
      waitsSince: WAITS_SINCE,
    }),
    ...lateRecords(db, writer, inside, settleMessage),
    reports: async (messageId) => inside.reports.ofMessage(messageId),
  }
}

/** → What leases a row to a worker, inside the change that claims it. Contents above `contentBytes` stay in the store. */
function createClaimed(
  db: Connection,
  { domains, parts }: { domains: DomainCache; parts: ContentParts },
): (row: DueRow, request: { now: number; worker: string; contentBytes?: number }) => ClaimedDelivery {
  const lease = db.prepare(LEASE)
  const deliveryOf = db.prepare<unknown[], DeliveryRow>(DELIVERY)
  const messageOf = db.prepare<unknown[], MessageRow>(MESSAGE)
  const contentOf = db.prepare<unknown[], Uint8Array>(CONTENT).pluck()
  return (row, { now, worker, contentBytes = Number.POSITIVE_INFINITY }) => {
    lease.run(now, worker, row.number)
    const message = toMessage(one(messageOf, row.messageNumber))
    const domain = domains.get(message.domainId)
    return {
      delivery: toDelivery(one(deliveryOf, row.number)),
      message,
      content:
        message.sizeBytes > contentBytes
          ? null
          : parts.whole('content', row.messageNumber, one(contentOf, row.messageNumber)),
      signingKeys: domain?.dkim.filter((key) => key.state === 'active') ?? [],
      domainName: domain?.name ?? '',
      ownership: domain === null ? null : { status: domain.status, provedBy: domain.provedBy },
      returnPathHost: domain?.returnPathHost ?? '',
      trackingHost: domain === null ? null : trackingHostOf(domain),
      worker,
    }
  }
}

/** What is learned of a delivery after its last attempt. */
function lateRecords(
  db: Connection,
  writer: Writer,
  inside: { append: AppendInside; suppress: SuppressInside; reports: Reports },
  settleMessage: (messageNumber: number) => void,
): Pick<Deliveries, 'get' | 'recordLate'> {
  const get = db.prepare<unknown[], LateRow>(GET)
  const messageOf = db.prepare<unknown[], MessageRow>(MESSAGE)
  const endLate = db.prepare(END_LATE)
  const changeLate = db.prepare(CHANGE_LATE)
  const settleLate = (number: number, change: NonNullable<LateRecord['change']>, now: number) => {
    const { status, smtpResponse, bounceType, bounceCode } = change
    const isDelivered = Number(status === 'delivered')
    if (isFinal(status)) endLate.run(status, smtpResponse, bounceType, bounceCode, isDelivered, now, number)
    else changeLate.run(status, smtpResponse, bounceType, bounceCode, number)
  }
  return {
    get: async (id) => {
      const row = get.get(id)
      if (row === undefined) return null
      const { messageNumber, ...delivery } = row
      return {
        delivery: toDelivery(delivery),
        message: toMessage(one(messageOf, messageNumber)),
      }
    },
    recordLate: ({ deliveryId, report, expected, change, events, suppression, now }) =>
      writer.write(() => {
        const row = get.get(deliveryId)
        if (row === undefined) return 'unknown'
        if (inside.reports.isKnown(row.number, report.digest)) return 'duplicate'
        if (row.status !== expected) return 'changed'
        inside.reports.add(row.number, report)
        if (change !== null) {
          settleLate(row.number, change, now)
          settleMessage(row.messageNumber)
        }
        const isLate = row.status === 'delivered'
        for (const event of events) inside.append(event, { isLate })
        if (suppression !== null) inside.suppress(suppression)
        return 'recorded'
      }),
  }
}

interface DueRow {
  number: number
  messageNumber: number
}

interface HeldRow {
  number: number
  messageNumber: number
  queue: string
}

type LateRow = DeliveryRow & { messageNumber: number }
