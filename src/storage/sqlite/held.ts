import type { DeliveryStatus } from '../../model/message.ts'
import { messageStatus } from '../../model/message.ts'
import { cancelledEvent } from '../../model/on-demand-event.ts'
import { tableOf } from '../../os/records.ts'
import type { DueIndex } from '../due-index.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { Held, HeldQueue, Restored } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { FanOut } from './fan-out.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import type { Writer } from './writer.ts'

/** A queue, and how its held deliveries end without an attempt. */
interface Queue {
  name: HeldQueue
  table: string
  /** Column that the queue is ordered by. */
  key: string
  /** SQL condition for open deliveries. */
  isOpen: string
  discarded: string
}

const QUEUES: readonly Queue[] = [
  {
    name: 'deliveries',
    table: 'deliveries',
    key: 'queue',
    isOpen: `status in ('scheduled', 'queued', 'deferred')`,
    discarded: 'cancelled',
  },
  {
    name: 'webhookDeliveries',
    table: 'webhook_deliveries',
    key: 'webhook_id',
    isOpen: `status = 'pending'`,
    discarded: 'failed',
  },
  {
    name: 'inboundDeliveries',
    table: 'inbound_deliveries',
    key: 'route_id',
    isOpen: `status = 'pending'`,
    discarded: 'failed',
  },
]

const CANCELLED = 'select id, email, message_number as messageNumber from deliveries where number = ?'
const MESSAGE = `select ${MESSAGE_COLUMNS} from messages m where m.number = ?`

/** Deliveries decided in one transaction, so that a running server can also write. */
const BATCH = 500

export function sqliteHeld(
  db: Connection,
  writer: Writer,
  dueIndexes: Record<HeldQueue, DueIndex>,
  { fanOut, onDemand }: { fanOut: Pick<FanOut, 'some'>; onDemand: OnDemandEvents },
): Held {
  const queues = new Map(QUEUES.map((queue) => [queue.name, statementsOf(db, queue)]))
  const queueOf = (name: HeldQueue) => {
    const queue = queues.get(name)
    if (queue === undefined) throw new Error(`unknown queue ${name}`)
    return queue
  }
  const restored = db.prepare<unknown[], Restored>(
    'select restored_at as restoredAt, made_at as madeAt from restored where one = 1',
  )
  const ofMessage = db.prepare(`select h.due_at from messages m join deliveries d on d.message_number = m.number
    join held_deliveries h on h.number = d.number where m.id = ? limit 1`)

  const deliveryOf = db.prepare<unknown[], { id: string; email: string; messageNumber: number }>(CANCELLED)
  const messageAt = db.prepare<unknown[], MessageRow>(MESSAGE)
  const reportCancelled = (number: number, now: number) => {
    const delivery = one(deliveryOf, number)
    onDemand.offer(cancelledEvent(toMessage(one(messageAt, delivery.messageNumber)), delivery, now))
  }

  /** In batches, so that a running server gets its turns. */
  const each = async (name: HeldQueue, dueAfter: number | null, decide: (row: HeldRow) => boolean): Promise<number> => {
    const { next, deleteHeld } = queueOf(name)
    let decided = 0
    for (let from = -1; ; ) {
      const rows = next.all(from, dueAfter ?? Number.MIN_SAFE_INTEGER, BATCH)
      const last = rows.at(-1)
      if (last === undefined) return decided
      decided += await writer.write(() => {
        const done = rows.filter(decide).length
        for (const { number } of rows) deleteHeld.run(number)
        return done
      })
      from = last.number
    }
  }

  return {
    noteRestored: ({ restoredAt, madeAt }) =>
      writer.write(() => {
        db.exec(`delete from login_links; delete from sessions; delete from invitations; delete from password_resets;
          delete from sign_in_challenges; delete from sign_on_requests; delete from tls_sessions`)
        db.prepare('insert or replace into restored (one, restored_at, made_at) values (1, ?, ?)').run(
          restoredAt,
          madeAt,
        )
      }),
    hold: () =>
      writer.write(() => {
        while (fanOut.some()); // deliveries that were still to be written are held like the others
        for (const { name, table } of QUEUES) {
          // Deliveries held by an earlier restore stay held. A leased row was due.
          db.exec(`insert or ignore into held_${table} (number, due_at)
            select number, iif(worker is null, next_attempt_at, 0) from ${table} where next_attempt_at is not null`)
          db.exec(`update ${table} set next_attempt_at = null, worker = null where next_attempt_at is not null`)
          dueIndexes[name].clear()
        }
      }),
    restored: async () => restored.get() ?? null,
    count: async () =>
      tableOf(
        QUEUES.map(({ name }) => name),
        (name) => one(queueOf(name).count),
      ),
    isHeld: async (messageId) => ofMessage.get(messageId) !== undefined,
    release: async (name, { dueAfter, now }) => {
      const { release } = queueOf(name)
      const goOn = (row: HeldRow) => {
        const at = Math.max(row.dueAt, now)
        const key = release.get(at, row.number)
        if (key !== undefined) dueIndexes[name].offer(key, at)
        return key !== undefined
      }
      return each(name, dueAfter, goOn)
    },
    discard: async (name, now) => {
      const { discard, reported } = queueOf(name)
      const end = (row: HeldRow) => {
        if (discard.run(row.number).changes === 0) return false
        reported(row.number)
        if (name === 'deliveries') reportCancelled(row.number, now)
        return true
      }
      return each(name, null, end)
    },
  }
}

interface HeldRow {
  number: number
  dueAt: number
}

function statementsOf(db: Connection, { name, table, key, isOpen, discarded }: Queue) {
  // A delivery requested by its ID meanwhile has a time again, and a cancelled one is final: neither is changed.
  const waits = `where number = ? and next_attempt_at is null and worker is null and ${isOpen}`
  return {
    count: db.prepare<unknown[], number>(`select count(*) from held_${table}`).pluck(),
    next: db.prepare<
      unknown[],
      HeldRow
    >(`select number, due_at as dueAt from held_${table} where number > ? and due_at > ?
      order by number limit ?`),
    deleteHeld: db.prepare(`delete from held_${table} where number = ?`),
    release: db.prepare<unknown[], string>(`update ${table} set next_attempt_at = ? ${waits} returning ${key}`).pluck(),
    discard: db.prepare(`update ${table} set status = '${discarded}' ${waits}`),
    reported: name === 'webhookDeliveries' ? () => {} : messageOf(db, table),
  }
}

/** The status of a message follows from its deliveries. */
function messageOf(db: Connection, table: string): (number: number) => void {
  const message = db.prepare(`select message_number from ${table} where number = ?`).pluck()
  if (table === 'inbound_deliveries') {
    const fail = db.prepare(`update inbound_messages set delivery_status = 'failed' where number = ?`)
    return (number) => {
      fail.run(message.get(number))
    }
  }
  const statuses = db
    .prepare<unknown[], DeliveryStatus>('select status from deliveries where message_number = ?')
    .pluck()
  const settle = db.prepare('update messages set status = ? where number = ?')
  return (number) => {
    const of = message.get(number)
    settle.run(messageStatus(statuses.all(of)), of)
  }
}
