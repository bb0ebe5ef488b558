import { StoreMoved } from '../errors.ts'
import type { DatabaseAddress } from '../postgres/address.ts'
import { type Connection, connect, Refused } from '../postgres/connection.ts'
import { addInstance, readInstance, serveHere, setInstanceState } from '../postgres/instance.ts'
import { migrate } from '../postgres/migrate.ts'
import { tablesAlike } from './alike.ts'
import { type CopiedTable, copyTables } from './copy-tables.ts'
import { openSource, type Source } from './source.ts'
import { type MovedTable, movedTables } from './tables.ts'
import { openTarget } from './target.ts'

/** Statements over whole tables take minutes. What is lost in a crash is written by the next run, so commits do not wait
 *  for the disk. */
const SETTINGS = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  // A statement of a run that was cut off ends, and with it its lock.
  client_connection_check_interval: '1s',
  lock_timeout: '10s',
  synchronous_commit: 'off',
  jit: 'off',
  work_mem: '64MB',
  maintenance_work_mem: '256MB',
}
/** Any number: one move into a database at a time. */
const LOCK = 'select pg_advisory_lock(7233186)'
const LOCK_NOT_AVAILABLE = '55P03'
const IN_USE = `select exists (select 1 from nodes) or exists (select 1 from seal) or exists (select 1 from organizations)
  as used`
const COUNT_UP = `select setval(pg_get_serial_sequence($1, 'number'), coalesce(max, 0) + 1, false)
  from (select max(number) from `
/** Nodes read all settings again. */
const CHANGE = 'update configuration set version = version + 1'

/** Copies what the SQLite database `file`, which nothing else writes, contains into PostgreSQL. It may be cut off anywhere
 *  and repeated. `isFirst`: everything that moves while the server runs; else also the rest, and everything is compared.
 *  `beforeServing` runs once both sides are the same; after it, nodes may serve the database. Throws StoreMoved if the
 *  database belongs to another installation or serves already, CopyDiffers, and what the databases throw. */
export async function moveToPostgres(options: {
  file: string
  address: DatabaseAddress
  now: number
  isFirst: boolean
  onCopied: (table: CopiedTable) => void
  beforeServing: (instanceId: string) => Promise<void>
}): Promise<CopiedTable[]> {
  const { file, address, now, isFirst, onCopied, beforeServing } = options
  const connection = await connect({ address, name: 'postrider migrate', settings: SETTINGS })
  try {
    await migrate(connection, now)
    const source = openSource(file, now)
    try {
      await requireOwn(connection, source)
      const tables = movedTables(await tablesAlike(source.columns(), connection))
      const target = openTarget(connection)
      const copied = await copyTables(
        tables.filter(({ isEarly }) => isEarly || !isFirst),
        { source, target, isFirst, onCopied },
      )
      if (!isFirst) await finish(connection, tables, () => beforeServing(source.instanceId))
      return copied
    } finally {
      source.close()
    }
  } finally {
    connection.close()
  }
}

/** The database is empty, or an earlier run for the same installation began to fill it, or was left by it. */
async function requireOwn(connection: Connection, { instanceId }: Source): Promise<void> {
  await connection.query(LOCK).catch((error: unknown) => {
    const isTaken = error instanceof Refused && error.code === LOCK_NOT_AVAILABLE
    throw isTaken ? new StoreMoved('another `postrider migrate` fills this database') : error
  })
  const known = await readInstance(connection)
  if (known === null) {
    const [found] = await connection.query<{ used: boolean }>(IN_USE)
    if (found?.used !== false) throw new StoreMoved('the database contains another installation. Create an empty one.')
    await addInstance(connection, { id: instanceId, state: 'filling' })
  } else if (known.id !== instanceId) {
    throw new StoreMoved('the database contains another installation. Create an empty one.')
  } else if (known.state === 'serving') {
    throw new StoreMoved('the data is in this database already. Set database.url in the config.')
  }
  await setInstanceState(connection, 'filling')
}

async function finish(
  connection: Connection,
  tables: readonly MovedTable[],
  beforeServing: () => Promise<void>,
): Promise<void> {
  for (const { name } of tables.filter(({ isNumbered }) => isNumbered)) {
    await connection.query(`${COUNT_UP} ${name}) numbers`, [name])
  }
  // Everything before it is on disk then, too.
  await connection.query('set synchronous_commit = on')
  await connection.query(CHANGE)
  await beforeServing()
  await serveHere(connection, { isAdopted: false })
}
