import { StoreMoved } from '../errors.ts'
import type { DatabaseAddress } from '../postgres/address.ts'
import { type Connection, connect, Refused } from '../postgres/connection.ts'
import { addInstance, readInstance, serveHere, setInstanceState } from '../postgres/instance.ts'
import { migrate } from '../postgres/migrate.ts'
import { connect as connectFile, one } from '../sqlite/driver.ts'
import { migrate as migrateFile } from '../sqlite/migrate.ts'
import { type CopiedTable, copyTables } from './copy-tables.ts'
import { longStatements, postgresTarget } from './postgres-side.ts'
import { sqliteSource } from './sqlite-side.ts'
import { type MovedTable, movedTables } from './tables.ts'
import { writeWords } from './words.ts'

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
/** All other numbers come from one sequence. */
const GO_ON = `select setval('numbers', coalesce(max(number), 0) + 1, false) from`
// Of a database that its nodes left: what does not move is as in a new one. Events that moved come before all others.
const LEFT = [
  'update events set position = 0 where position <> 0',
  'delete from claims',
  ...['deliveries', 'webhook_deliveries', 'inbound_deliveries'].map(
    (queue) => `update ${queue} set worker = null where worker is not null`,
  ),
]
const PATIENCE_MS = 5_000
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
    const db = connectFile(file, { busyTimeoutMs: PATIENCE_MS })
    try {
      migrateFile(db, now)
      const instanceId = one(db.prepare<unknown[], string>('select id from instance').pluck())
      await requireOwn(connection, instanceId)
      const tables = await movedTables(db, connection)
      const copied = await copyTables(
        tables.filter((table) => !isFirst || isEarly(table)),
        { source: sqliteSource(db), target: postgresTarget(connection), isFirst, onCopied },
      )
      await writeWords(connection)
      if (!isFirst) await finish(connection, tables, () => beforeServing(instanceId))
      return copied
    } finally {
      db.close()
    }
  } finally {
    connection.close()
  }
}

/** Tables that grow with the mail: most of their parts stay the same until the move ends. */
const isEarly = ({ part, isReferred }: MovedTable): boolean => part !== null && !isReferred

/** The database is empty, or an earlier run for the same installation began to fill it, or was left by it. */
async function requireOwn(connection: Connection, instanceId: string): Promise<void> {
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
  const { query } = longStatements(connection)
  for (const text of LEFT) await query(text)
  for (const { name } of tables.filter(({ isIdentity }) => isIdentity)) {
    await query(`${COUNT_UP} ${name}) numbers`, [name])
  }
  const numbered = tables.filter(({ part, isIdentity }) => part?.column === 'number' && !isIdentity)
  const numbers = numbered.map(({ name }) => `select max(number) as number from ${name}`)
  await query(`${GO_ON} (${numbers.join(' union all ')}) numbers`)
  // Everything before it is on disk then, too.
  await connection.query('set synchronous_commit = on')
  await connection.query(CHANGE)
  await beforeServing()
  await serveHere(connection, { isAdopted: false })
}
