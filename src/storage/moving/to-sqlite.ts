import { StoreMoved } from '../errors.ts'
import type { DatabaseAddress } from '../postgres/address.ts'
import { requireNoNodes } from '../postgres/adopt.ts'
import { type Connection, connect } from '../postgres/connection.ts'
import { readInstance, setInstanceState } from '../postgres/instance.ts'
import { connect as connectFile } from '../sqlite/driver.ts'
import { migrate } from '../sqlite/migrate.ts'
import { type CopiedTable, copyTables } from './copy-tables.ts'
import { createNumbers, postgresSource } from './postgres-side.ts'
import { sqliteTarget } from './sqlite-side.ts'
import { movedTables } from './tables.ts'

const SETTINGS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0', jit: 'off' }
const IN_USE = 'the database does not serve, or belongs to a move that is not finished'

/** Copies a PostgreSQL database that no node uses into the new SQLite file `file`, as of one moment. `beforeMark` makes the
 *  file the one of its data directory, after the database is marked: no node serves it from then on. Throws StoreMoved
 *  while nodes run, CopyDiffers, and what the databases throw; then the database is unchanged. */
export async function moveToSqlite(options: {
  address: DatabaseAddress
  file: string
  now: number
  onCopied: (table: CopiedTable) => void
}): Promise<CopiedTable[]> {
  const { address, file, now, onCopied } = options
  const connection = await connect({ address, name: 'postrider migrate', settings: SETTINGS })
  try {
    const instance = await readInstance(connection)
    if (instance === null || instance.state === 'filling' || instance.state === 'went_back')
      throw new StoreMoved(IN_USE)
    await requireNoNodes(connection)
    const copied = await copyInto(file, connection, { now, instanceId: instance.id, onCopied })
    await requireNoNodes(connection) // that started meanwhile
    await setInstanceState(connection, 'moved')
    return copied
  } finally {
    connection.close()
  }
}

async function copyInto(
  file: string,
  connection: Connection,
  how: { now: number; instanceId: string; onCopied: (table: CopiedTable) => void },
): Promise<CopiedTable[]> {
  const db = connectFile(file, { busyTimeoutMs: 0 })
  try {
    migrate(db, how.now)
    db.pragma('synchronous = off')
    db.prepare('update instance set id = ?').run(how.instanceId)
    const tables = await movedTables(db, connection)
    await createNumbers(connection)
    const [source, target] = [postgresSource(connection), sqliteTarget(db)]
    const copied = await copyTables(tables, { source, target, isFirst: false, onCopied: how.onCopied })
    await connection.query('commit')
    db.pragma('synchronous = full')
    db.pragma('wal_checkpoint(truncate)')
    return copied
  } finally {
    db.close()
  }
}
