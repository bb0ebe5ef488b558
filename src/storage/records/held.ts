import { tableOf } from '../../os/records.ts'
import type { DueIndex } from '../due-index.ts'
import { fanOutNext } from '../mail/fan-out.ts'
import { type Decided, discardSome, HOLDINGS, holdSome, type Place, releaseSome } from '../mail/held.ts'
import { insideMail } from '../mail/inside.ts'
import type { MailLane } from '../mail/lane.ts'
import type { PendingFanOuts } from '../mail/pending-fan-outs.ts'
import type { QueueName } from '../mail/queue-tables.ts'
import { type Database, run, sql } from '../sql.ts'

interface Restored {
  restoredAt: number
  /** Time of the backup, ms UTC. */
  madeAt: number
}

const RESTORED = sql<Restored>(`select restored_at::float8 as "restoredAt", made_at::float8 as "madeAt" from restored`)
export const NOTE_RESTORED = sql(`insert into restored (one, restored_at, made_at) values (1, $1, $2)
  on conflict (one) do update set restored_at = excluded.restored_at, made_at = excluded.made_at`)
/** What ends with a restore: it may have been used since. */
export const ENDED_BY_RESTORE = [
  'login_links',
  'sign_on_requests',
  'sessions',
  'invitations',
  'password_resets',
  'sign_in_challenges',
  'tls_sessions',
].map((table) => sql(`delete from ${table}`))
const OF_MESSAGE = sql<{ number: number }>(`select h.number::float8 as number from messages m
  join deliveries d on d.message_number = m.number join held_deliveries h on h.number = d.number
  where m.id = $1 limit 1`)

/** Deliveries decided in one transaction, so that a running server can also write. */
const DECIDED_AT_ONCE = 500
const HELD_AT_ONCE = 2000

const NAMES = HOLDINGS.map(({ name }) => name)

/** Deliveries on hold in a restored store, because they may have been sent after the backup was made. */
export function heldRecords(
  database: Database,
  { dueIndexes, lane, pending }: { dueIndexes: Record<QueueName, DueIndex>; lane: MailLane; pending: PendingFanOuts },
) {
  return {
    /** Records that this store was restored from a backup. Ends all dashboard sessions, since they may have been ended
     *  after the backup, and deletes TLS sessions that were not reported yet, since their report may have been sent. */
    noteRestored: ({ restoredAt, madeAt }: Restored): Promise<void> =>
      database.write(function* () {
        for (const statement of ENDED_BY_RESTORE) yield* run(statement)
        yield* run(NOTE_RESTORED, restoredAt, madeAt)
      }),
    /** Puts everything in the queues on hold, by default in all of them, including deliveries in progress: another attempt of
     *  these follows once they are released. For a store without a running server. Writes the webhook deliveries that are
     *  still to be written before. May use many transactions: after an interruption, it is called again. */
    hold: async (queues: readonly QueueName[] = NAMES): Promise<void> => {
      while (await fanOutNext(lane, pending)); // deliveries that were still to be written are held like the others
      for (const holding of queues.map(holdingOf)) {
        for (let from: Place | null = { key: '', at: 0 }; from !== null; ) {
          const place: Place = from
          from = await database.write(() => holdSome(holding, place, HELD_AT_ONCE))
        }
        dueIndexes[holding.name].clear()
      }
    },
    /** Null if this store was never restored. */
    restored: (): Promise<Restored | null> => database.row(RESTORED),
    count: async (): Promise<Record<QueueName, number>> => {
      const counts = await Promise.all(HOLDINGS.map(({ count }) => database.row(count)))
      return tableOf(NAMES, (name) => counts[NAMES.indexOf(name)]?.count ?? 0)
    },
    /** True if any delivery of this message is on hold. */
    isHeld: async (messageId: string): Promise<boolean> => (await database.row(OF_MESSAGE, messageId)) !== null,
    /** Returns held deliveries to a queue, each at its time and not before `now`; with `dueAfter` only those due
     *  later. Uses many transactions: after an interruption the rest is still on hold. Returns the number released. */
    release: (name: QueueName, { dueAfter, now }: { dueAfter: number | null; now: number }): Promise<number> =>
      inSteps((after) =>
        database.write(function* () {
          const request = { after, dueAfter, now, most: DECIDED_AT_ONCE }
          return yield* releaseSome(yield* insideMail(), holdingOf(name), request)
        }),
      ),
    /** Ends held deliveries without an attempt: mail is cancelled, posts fail. Also in many transactions. Returns
     *  their number. */
    discard: (name: QueueName, now: number): Promise<number> =>
      inSteps(() =>
        database.write(function* () {
          return yield* discardSome(yield* insideMail(), holdingOf(name), now, DECIDED_AT_ONCE)
        }),
      ),
  }
}

function holdingOf(name: QueueName) {
  const holding = HOLDINGS.find((each) => each.name === name)
  if (holding === undefined) throw new Error(`unknown queue ${name}`)
  return holding
}

/** Decides step by step, each behind the last number of the one before → how many deliveries. */
async function inSteps(decide: (after: number) => Promise<Decided>): Promise<number> {
  let decided = 0
  for (let after = -1; ; ) {
    const step = await decide(after)
    decided += step.decided
    if (step.last === null) return decided
    after = step.last
  }
}
