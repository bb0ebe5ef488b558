import {
  checksumOf,
  type Done,
  type Migration,
  NEWEST_SCHEMA,
  POSTGRES_MIGRATIONS,
  requireKnown,
} from '../migrations.ts'
import { type Connection, inTransaction, Refused } from './connection.ts'

const STEPS = `create table if not exists migrations (
  number int primary key, name text not null, checksum text not null, applied_at bigint not null)`
/** Any number, the same in every version: of two nodes that start, one migrates. While a step waits for a
 *  table, nobody else can use that table, so the wait is short and is repeated. */
const BEGIN = `begin; set local statement_timeout = 0; set local lock_timeout = '2s'`
const LOCK = 'select pg_advisory_xact_lock(7233185)'
const LOCK_NOT_AVAILABLE = new Set(['55P03', '40P01'])
const ATTEMPTS = 30
const PAUSE_MS = 250
/** A step that writes every row. */
const STEP_MS = 60 * 60_000
const IS_OLDER = 'select 1 from nodes where ended_at is null and schema < $1 limit 1'
const DONE = 'select number, name, checksum from migrations order by number'
const RECORD = 'insert into migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)'

/** Connection → its schema upgraded to this binary's, one transaction per step, each recorded with the checksum of its
 *  text. An interrupted step leaves nothing and runs again. Steps that an older live node cannot serve wait. Returns the
 *  names of the steps that upgraded a schema in use; none for a new one. Throws StoreMismatch, without changes, if the
 *  schema is newer than this binary, or if a recorded step has another text here. */
export async function migrate(
  connection: Connection,
  now: number,
  migrations: readonly Migration[] = POSTGRES_MIGRATIONS,
): Promise<string[]> {
  const before = await alone(connection, async () => {
    await connection.query(STEPS)
    return knownSteps(connection, migrations)
  })
  const upgraded: string[] = []
  for (const [at, migration] of migrations.entries()) {
    if (at < before) continue
    const done = await alone(connection, async () => {
      if ((await knownSteps(connection, migrations)) > at) return 'by others'
      if (migration.isNarrow && (await connection.query(IS_OLDER, [at + 1])).length > 0) return 'later'
      await connection.query(migration.sql, [], STEP_MS)
      await connection.run(RECORD, [at + 1, migration.name, checksumOf(migration), now])
      return 'here'
    })
    if (done === 'later') break
    if (done === 'here' && before > 0) upgraded.push(migration.name)
  }
  return upgraded
}

/** Number of steps, all known to this binary. */
async function knownSteps(connection: Connection, migrations: readonly Migration[]): Promise<number> {
  return requireKnown(await connection.query<Done>(DONE), migrations, 'database')
}

/** Performs a work in a transaction while no other node migrates. Repeats it if a lock is taken. */
async function alone<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  const locked = async () => {
    await connection.query(LOCK)
    return work()
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(connection, locked, BEGIN)
    } catch (error) {
      const isTaken = error instanceof Refused && LOCK_NOT_AVAILABLE.has(error.code)
      if (!isTaken || attempt === ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

/** True if steps of this version are still to be run. */
export async function isUpgradePending({ query }: Pick<Connection, 'query'>): Promise<boolean> {
  return (await query(DONE)).length < NEWEST_SCHEMA
}
