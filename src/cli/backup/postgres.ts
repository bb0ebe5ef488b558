import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import type { HeldCounts } from '../../model/held.ts'
import { systemClock } from '../../os/clock.ts'
import { type DatabaseAddress, databaseAddress } from '../../storage/postgres/address.ts'
import { adoptDatabase } from '../../storage/postgres/adopt.ts'
import { type Connection, connect } from '../../storage/postgres/connection.ts'
import { readInstance } from '../../storage/postgres/instance.ts'
import { requireConfig, withStore } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import type { Archive } from './archive.ts'
import { DUMP, REFERENCE } from './manifest.ts'
import { QUEUES } from './release.ts'
import { recordRestore } from './unpack.ts'

/** Debian has the programs of each version in a folder of its own. */
const PROGRAMS = '/usr/lib/postgresql'
const SCHEMA = 'select count(*)::int as steps from migrations'
const IS_USED = `select to_regclass('migrations') is not null as used`

/** Writes the part of a backup that is about a PostgreSQL database to `folder`: a dump, or for a database with backups of
 *  its own only its address. Returns the name of the file. Throws CommandFailure without `pg_dump`, and with its error. */
export async function backUpDatabase({ database }: Config, folder: string, isDumped: boolean): Promise<string> {
  const address = databaseAddress(database)
  if (isDumped) {
    const how = ['--format=custom', '--no-owner', '--no-privileges', `--file=${join(folder, DUMP)}`]
    await runTool('pg_dump', [...how, `--dbname=${uriOf(address, database.caFile)}`], address)
    return DUMP
  }
  const { hosts, database: name } = address
  writeFileSync(join(folder, REFERENCE), `${JSON.stringify({ hosts, database: name })}\n`, { mode: 0o600 })
  return REFERENCE
}

/** The number of schema steps of the configured database, and its installation. */
export function describePostgres({ database }: Config): Promise<{ schema: number; instanceId: string }> {
  return withConnection(databaseAddress(database), async (connection) => {
    const [row] = await connection.query<{ steps: number }>(SCHEMA)
    const instance = await readInstance(connection)
    if (instance === null || row === undefined) throw new CommandFailure('the database contains no installation')
    return { schema: row.steps, instanceId: instance.id }
  })
}

/** Throws CommandFailure unless the config names a PostgreSQL database, without tables if a dump is to be restored. */
export async function requireDatabaseFor({ database }: Config, isDumped: boolean): Promise<void> {
  if (database.url === '') throw usageFault('the backup is of an installation with PostgreSQL. Set database.url first.')
  if (!isDumped) return
  const isUsed = await withConnection(databaseAddress(database), async (connection) => {
    const [row] = await connection.query<{ used: boolean }>(IS_USED)
    return row?.used !== false
  })
  if (isUsed) throw new CommandFailure('the database of database.url is not empty. Create an empty one.')
}

/** Restores the dump of a backup into the configured database, adds an entry to the audit log, and holds, keeps or
 *  discards the mail that waits in it. Returns what is on hold. Throws CommandFailure without `pg_restore`, and with its
 *  error; then the database is unchanged. */
export async function restoreDump(
  file: string,
  archive: Archive,
  options: { config: string; sendQueued?: true; discardQueued?: true },
): Promise<HeldCounts> {
  const config = requireConfig(options.config)
  const address = databaseAddress(config.database)
  const how = ['--no-owner', '--no-privileges', '--single-transaction', '--exit-on-error']
  await runTool('pg_restore', [...how, `--dbname=${uriOf(address, config.database.caFile)}`, file], address)
  const now = systemClock.now()
  await adoptDatabase(address, now)
  return withStore(config, async ({ store }) => {
    await store.held.hold(['webhookDeliveries']) // those that were not written yet; all others are on hold
    await recordRestore(store, archive)
    if (options.discardQueued) for (const queue of QUEUES) await store.held.discard(queue, now)
    if (options.sendQueued) for (const queue of QUEUES) await store.held.release(queue, { dueAfter: null, now })
    return store.held.count()
  })
}

async function withConnection<T>(address: DatabaseAddress, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connect({ address, name: 'postrider backup' })
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}

/** The password is in the environment, since everybody can read the arguments of a process. */
async function runTool(name: string, args: string[], { password }: DatabaseAddress): Promise<void> {
  const child = Bun.spawn([toolFile(name), ...args], {
    env: { ...process.env, PGPASSWORD: password },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new CommandFailure(said.trim() || `${name} ended with ${child.exitCode}`)
}

/** The newest version: an older one refuses a newer server. */
function toolFile(name: string): string {
  const versions = existsSync(PROGRAMS) ? readdirSync(PROGRAMS).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(PROGRAMS, version, 'bin', name)).find(existsSync) ?? Bun.which(name)
  if (found === null) throw new CommandFailure(`${name} is not installed. Install the client programs of PostgreSQL.`)
  return found
}

const MODES: Record<DatabaseAddress['tls'], string> = { verify: 'verify-full', encrypt: 'require', none: 'disable' }

function uriOf({ hosts, user, database, tls }: DatabaseAddress, caFile: string | null): string {
  const named = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : encodeURIComponent(host)}:${port}`)
  const parameters = new URLSearchParams({
    sslmode: MODES[tls],
    target_session_attrs: 'read-write',
    ...(tls === 'verify' ? { sslrootcert: caFile ?? 'system' } : {}),
  })
  return `postgresql://${encodeURIComponent(user)}@${named.join(',')}/${encodeURIComponent(database)}?${parameters}`
}
