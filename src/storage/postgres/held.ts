import type { Delivery } from '../../model/delivery.ts'
import { tableOf } from '../../os/records.ts'
import type { DueIndex, DueTime } from '../due-index.ts'
import type { Held, HeldQueue, Restored } from '../store.ts'
import { textArray } from './arrays.ts'
import { cancelAll, WAITING_COLUMNS, type WaitingDelivery } from './cancel.ts'
import type { QueueTable } from './claims.ts'
import type { FanOut } from './fan-out.ts'
import type { Group, MailLane } from './group.ts'
import { END_INBOUND } from './inbound-row.ts'
import { DELIVERY_COLUMNS, DELIVERY_STATE } from './message-row.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

/** A queue, and how its held deliveries end without an attempt. */
interface Queue {
  name: HeldQueue
  table: QueueTable['table']
  /** Ends the rows with these IDs, given as an array. */
  discard(group: Group, ids: string, now: number): Promise<unknown>
}

const WAITING = `select ${WAITING_COLUMNS} from delivery_queue where id = any($1::text[])`
const DELIVERIES = `select ${DELIVERY_COLUMNS} from deliveries d ${DELIVERY_STATE} where d.id = any($1::text[])`
const FAIL_POSTS = `with ended as (delete from webhook_queue where id = any($1::text[]) returning id)
  update webhook_deliveries d set failed = true from ended where d.id = ended.id`
const UNQUEUE_INBOUND = 'delete from inbound_queue where id = any($1::text[])'
const IS_HELD = 'select from delivery_queue where message_id = $1 and due_at is null limit 1'
const RESTORED = `select restored_at::float8 as "restoredAt", made_at::float8 as "madeAt" from restored`
const NOTE_RESTORED = `insert into restored (one, restored_at, made_at) values (1, $1, $2)
  on conflict (one) do update set restored_at = excluded.restored_at, made_at = excluded.made_at`

const QUEUES: readonly Queue[] = [
  {
    name: 'deliveries',
    table: 'delivery_queue',
    discard: async (group, ids, now) => {
      const [waiting, deliveries] = await Promise.all([
        group.statements.query<WaitingDelivery>(WAITING, [ids]),
        group.statements.query<Delivery>(DELIVERIES, [ids]),
      ])
      await cancelAll(group, waiting, deliveries, now)
    },
  },
  {
    name: 'webhookDeliveries',
    table: 'webhook_queue',
    discard: ({ statements }, ids) => statements.run(FAIL_POSTS, [ids]),
  },
  {
    name: 'inboundDeliveries',
    table: 'inbound_queue',
    discard: ({ statements }, ids) =>
      Promise.all([statements.run(UNQUEUE_INBOUND, [ids]), statements.run(END_INBOUND, [ids, 'failed'])]),
  },
]

/** Deliveries decided in one transaction, so that a running server can also write. */
const BATCH = 500
/** Rows put on hold in one transaction. */
const HOLD_BATCH = 5000

/** What ends with a restore: it may have been used since. */
const ENDED = [
  'login_links',
  'sign_on_requests',
  'sessions',
  'invitations',
  'password_resets',
  'sign_in_challenges',
  'tls_sessions',
]

/** On hold: `due_at` is null and `held_due_at` is set. */
export function postgresHeld(
  reads: Reads,
  lane: MailLane,
  inside: { writer: Writer; dueIndexes: Record<HeldQueue, DueIndex>; fanOut: FanOut },
): Held {
  const { writer, dueIndexes, fanOut } = inside
  return {
    noteRestored: ({ restoredAt, madeAt }) =>
      writer.write(async ({ run }) => {
        for (const table of ENDED) await run(`delete from ${table}`)
        await run(NOTE_RESTORED, [restoredAt, madeAt])
      }),
    hold: async () => {
      while (await fanOut.some(lane)); // deliveries that were still to be written are held like the others
      for (const { name, table } of QUEUES) {
        for (let from: string | null = ''; from !== null; ) from = await holdSome(lane, table, from)
        dueIndexes[name].clear()
      }
    },
    restored: async () => (await reads.query<Restored>(RESTORED))[0] ?? null,
    count: async () => {
      const counts = await Promise.all(
        QUEUES.map(({ table }) =>
          reads.query<{ count: number }>(`select count(*)::int as count from ${table} where due_at is null`),
        ),
      )
      return tableOf(
        QUEUES.map(({ name }) => name),
        (name) => counts[QUEUES.findIndex((queue) => queue.name === name)]?.[0]?.count ?? 0,
      )
    },
    isHeld: async (messageId) => (await reads.query(IS_HELD, [messageId])).length > 0,
    release: (name, { dueAfter, now }) => {
      const { table } = queueOf(name)
      const text = `update ${table} set due_at = greatest(held_due_at, $2::bigint), held_due_at = null
        where id = any($1::text[]) returning key, due_at::float8 as at`
      return each(lane, table, dueAfter, async ({ statements, add }, ids) => {
        const rows = await statements.query<DueTime>(text, [ids, now])
        add.afterCommit(() => {
          for (const { key, at } of rows) dueIndexes[name].offer(key, at)
        })
      })
    },
    discard: (name, now) => {
      const { table, discard } = queueOf(name)
      return each(lane, table, null, (group, ids) => discard(group, ids, now))
    },
  }
}

function queueOf(name: HeldQueue): Queue {
  const queue = QUEUES.find((each) => each.name === name)
  if (queue === undefined) throw new Error(`unknown queue ${name}`)
  return queue
}

/** Puts the next rows of a table on hold → the last of them; null if there are no more. Those that an earlier restore
 *  put on hold stay so. A leased row was due. */
function holdSome(lane: MailLane, table: string, from: string): Promise<string | null> {
  const text = `with next as materialized (select id from ${table} where id > $1 order by id limit ${HOLD_BATCH}),
    held as (update ${table} q set held_due_at = case when q.worker is null then q.due_at else 0 end, due_at = null,
        worker = null
      from next where q.id = next.id and q.due_at is not null)
    select max(id) as last from next`
  return lane.perform(
    async ({ statements }) => (await statements.query<{ last: string | null }>(text, [from]))[0]?.last ?? null,
  )
}

/** Decides what is on hold, in the order of its due times and in batches → its number. With `dueAfter` only what is due
 *  later. */
async function each(
  lane: MailLane,
  table: string,
  dueAfter: number | null,
  decide: (group: Group, ids: string) => Promise<unknown>,
): Promise<number> {
  const next = `select id, held_due_at::float8 as at from ${table}
    where due_at is null and (held_due_at, id) > ($1::bigint, $2) order by held_due_at, id limit ${BATCH} for update`
  let decided = 0
  let last = { at: dueAfter ?? -1, id: AFTER_ALL_IDS }
  for (;;) {
    const rows = await lane.perform(async (group) => {
      const found = await group.statements.query<{ id: string; at: number }>(next, [last.at, last.id])
      if (found.length > 0) await decide(group, textArray(found.map(({ id }) => id)))
      return found
    })
    decided += rows.length
    last = rows.at(-1) ?? last
    if (rows.length < BATCH) return decided
  }
}

/** IDs begin with a letter. */
const AFTER_ALL_IDS = '~'
