import { createHash } from 'node:crypto'
import { StoreMismatch } from '../errors.ts'
import type { Connection } from './connection.ts'
import start from './migrations/0001_start.sql' with { type: 'text' }
import collision from './migrations/0002_collision.sql' with { type: 'text' }
import folding from './migrations/0002_folding.sql' with { type: 'text' }
import follows from './migrations/0002_follows.sql' with { type: 'text' }
import leases from './migrations/0002_leases.sql' with { type: 'text' }
import rates from './migrations/0002_rates.sql' with { type: 'text' }
import nodes from './migrations/0010_nodes.sql' with { type: 'text' }
import instance from './migrations/0020_instance.sql' with { type: 'text' }
import history from './migrations/0021_history.sql' with { type: 'text' }
import destinations from './migrations/0040_destinations.sql' with { type: 'text' }

export interface Migration {
  name: string
  sql: string
}

/** In order; never edited after a release. The number is the position in the list, from 1. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001_start', sql: start },
  { name: '0002_collision', sql: collision },
  { name: '0002_leases', sql: leases },
  { name: '0002_folding', sql: folding },
  { name: '0002_rates', sql: rates },
  { name: '0002_follows', sql: follows },
  { name: '0010_nodes', sql: nodes },
  { name: '0020_instance', sql: instance },
  { name: '0021_history', sql: history },
  { name: '0040_destinations', sql: destinations },
]

const STEPS = `create table if not exists migrations (
  number int primary key, name text not null, checksum text not null, applied_at bigint not null)`
/** Any number, the same in every version: of two nodes that start, one migrates. */
const LOCK = 'select pg_advisory_xact_lock(7233185)'
const DONE = 'select number, name, checksum from migrations order by number'
const RECORD = 'insert into migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)'

/** Connection → its schema upgraded to this binary's, one transaction per step, each recorded with the checksum of its
 *  text. An interrupted step leaves nothing and runs again. Returns the names of the steps that upgraded a schema in
 *  use; none for a new one. Throws StoreMismatch, without changes, if the schema is newer than this
 *  binary, or if a recorded step has another text here. */
export async function migrate(
  connection: Connection,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const before = await inTransaction(connection, async () => {
    await connection.query(STEPS)
    return knownSteps(connection, migrations)
  })
  const upgraded: string[] = []
  for (const [at, { name, sql }] of migrations.entries()) {
    if (at < before) continue
    const isDone = await inTransaction(connection, async () => {
      if ((await knownSteps(connection, migrations)) > at) return false // another process came first
      await connection.query(sql)
      await connection.run(RECORD, [at + 1, name, checksumOf(sql), now])
      return true
    })
    if (isDone && before > 0) upgraded.push(name)
  }
  return upgraded
}

/** Number of steps, all known to this binary. */
async function knownSteps(connection: Connection, migrations: readonly Migration[]): Promise<number> {
  const done = await connection.query<{ number: number; name: string; checksum: string }>(DONE)
  const newest = done.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new StoreMismatch(
      `a newer Postrider wrote the database (schema ${newest.number} ${newest.name}, this version has ${migrations.length}). Run that version.`,
    )
  }
  for (const { number, name, checksum } of done) {
    const known = migrations[number - 1]
    if (known === undefined || checksum !== checksumOf(known.sql)) {
      throw new StoreMismatch(`schema step ${number} (${name}) of the database differs from the one in this version`)
    }
  }
  return done.length
}

async function inTransaction<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  await connection.query('begin')
  try {
    await connection.query(LOCK)
    const value = await work()
    await connection.query('commit')
    return value
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex')
}
