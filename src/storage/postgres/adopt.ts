import { StoreMoved } from '../errors.ts'
import { ENDED_BY_RESTORE, NOTE_RESTORED } from '../records/held.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, connect, inTransaction } from './connection.ts'
import { faultOf, readInstance, serveHere } from './instance.ts'
import { migrate } from './migrate.ts'

/** A node that was seen more recently may still run. */
const LIVE_MS = 10_000
const LIVE = `select coalesce(string_agg(name, ', '), '') as names from nodes
  where ended_at is null and handles_mail and seen_at > clock_timestamp() - $1::float8 * interval '1 millisecond'`
const LAST_SEEN = `select extract(epoch from max(seen_at))::float8 * 1000 as at from nodes`
const END = [
  'update nodes set ended_at = clock_timestamp() where ended_at is null',
  'update lanes set ended_at = clock_timestamp() where ended_at is null',
  'delete from claims',
  ...ENDED_BY_RESTORE.map(({ text }) => text),
]
// What was leased was due. One that was held before waits again since somebody asked for it.
const hold = (queue: string) => `with held as (
    insert into held_${queue} (number, due_at)
    select number, case when worker is null then next_attempt_at else 0 end from ${queue} where next_attempt_at is not null
    on conflict (number) do update set due_at = excluded.due_at)
  update ${queue} set worker = null, next_attempt_at = null where next_attempt_at is not null`
const QUEUES = ['deliveries', 'webhook_deliveries', 'inbound_deliveries']
const SETTINGS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' }

/** Makes a database serve that is a copy, or went back to an earlier state: what waits is on hold, since it may have been
 *  sent; sessions end; nodes compare what they know with it from now on. One transaction. Returns when a node last wrote
 *  to it, ms UTC. Throws StoreMoved while nodes run, and if its data is not complete or elsewhere. `now`: ms UTC. */
export async function adoptDatabase(address: DatabaseAddress, now: number): Promise<{ lastSeenAt: number }> {
  const connection = await connect({ address, name: 'postrider adopt', settings: SETTINGS })
  try {
    await migrate(connection, now)
    const known = await readInstance(connection)
    if (known === null) throw new StoreMoved('the database contains no installation')
    if (known.state === 'filling' || known.state === 'moved') throw new StoreMoved(faultOf(known) ?? '')
    await requireNoNodes(connection)
    const [seen] = await connection.query<{ at: number | null }>(LAST_SEEN)
    const lastSeenAt = Math.floor(seen?.at ?? now)
    await inTransaction(connection, async () => {
      for (const text of [...END, ...QUEUES.map(hold)]) await connection.query(text, [], DEADLINE_MS)
      await connection.run(NOTE_RESTORED.text, [now, lastSeenAt])
      await serveHere(connection, { isAdopted: true })
    })
    return { lastSeenAt }
  } finally {
    connection.close()
  }
}

/** Throws StoreMoved if a node may run. */
export async function requireNoNodes(connection: Connection): Promise<void> {
  const [live] = await connection.query<{ names: string }>(LIVE, [LIVE_MS])
  if (live === undefined || live.names === '') return
  throw new StoreMoved(`nodes use the database: ${live.names}. End all nodes first.`)
}

/** Millions of rows take minutes. */
const DEADLINE_MS = 60 * 60_000
