import { reEncryptAll } from '../records/re-encrypt.ts'
import type { DatabaseAddress } from './address.ts'
import { requireNoNodes } from './adopt.ts'
import { connect, inTransaction } from './connection.ts'
import { perform } from './database.ts'

/** reEncryptAll on a database → the number of secrets. Throws StoreMoved while nodes run: they know only the old key. */
export async function reEncryptDatabase(address: DatabaseAddress, dataDir: string): Promise<number> {
  const connection = await connect({ address, name: 'postrider seal' })
  const statements = {
    query: connection.query.bind(connection),
    run: connection.run.bind(connection),
  }
  try {
    await requireNoNodes(connection)
    return await inTransaction(connection, () => perform(reEncryptAll(dataDir), { statements, mail: null, sent: [] }))
  } finally {
    connection.close()
  }
}
