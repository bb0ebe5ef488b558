import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../../src/storage/postgres/open.ts'
import { openStore } from '../../../src/storage/sqlite/open.ts'
import type { NodeObserver, Store } from '../../../src/storage/store.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'

/** The columns of figures that compare both stores. */
export const STORES = ['SQLite', 'PostgreSQL'] as const
export type StoreName = (typeof STORES)[number]

let databases = 0

/** Runs `work` beside a PostgreSQL as an installation has it: fsync on, its data on disk. */
export async function withDatabase(work: (postgres: TestPostgres) => Promise<void>): Promise<void> {
  const settings = { shared_buffers: '3GB', max_wal_size: '4GB', max_connections: '200' }
  const postgres = await startPostgres({ isDurable: true, parent: tmpdir(), settings })
  try {
    await work(postgres)
  } finally {
    await postgres.stop()
  }
}

export const createDatabase = (postgres: TestPostgres) => postgres.createDatabase(`bench${++databases}`)

/** An empty store in this process; PostgreSQL's is that of the only node. */
export async function openEmpty(name: StoreName, scratch: string, postgres: TestPostgres): Promise<Store> {
  if (name === 'PostgreSQL') return openNode(await createDatabase(postgres), scratch)
  return openStore({ dataDir: mkdtempSync(join(scratch, 'store-')), now: Date.now() })
}

/** The store of a node in this process, with the data directory that all nodes of `scratch` share, one after the other. */
export function openNode(url: string, scratch: string, observer?: NodeObserver): Promise<Store> {
  const dataDir = join(scratch, `node-${url.slice(url.lastIndexOf('/') + 1)}`)
  return openPostgresStore({ url, dataDir, now: Date.now(), ...(observer === undefined ? {} : { node: { observer } }) })
}
