import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Plan } from '../../src/model/organization.ts'
import { withObjects } from '../../src/storage/objects/contents.ts'
import { s3Objects } from '../../src/storage/objects/s3.ts'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import { DATABASE_FILE, openStore } from '../../src/storage/sqlite/open.ts'
import type { ReadingThread } from '../../src/storage/sqlite/reader.ts'
import type { Store } from '../../src/storage/store.ts'
import { keepSessions } from '../support/keep-sessions.ts'
import { openMemoryStore, openNewStore } from '../support/migrated-store.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { startReading } from '../support/reading.ts'
import { startS3, type TestS3 } from '../support/s3.ts'
import { createEmptied } from './migrated.ts'

/** An implementation of Store; test/storage/contract.ts tests each. */
export interface Backend {
  name: string
  /** An empty store, where every organization has the plan. */
  open(plan: Plan): Promise<OpenedBackend>
  /** Called after the last test. */
  stop?(): Promise<void>
}

export interface OpenedBackend {
  store: Store
  /** Closes the store and opens it again; null for a store in memory. */
  reopen: (() => Promise<Store>) | null
  /** Closes the store and removes its files. */
  remove(): Promise<void>
}

/** Any time: the stores read no clock. */
const OPENED_AT = Date.UTC(2026, 10, 21)

/** A store with a data directory of its own. */
async function inFolder(open: (dataDir: string) => Promise<Store>): Promise<OpenedBackend> {
  const dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
  let store = await open(dataDir)
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open(dataDir)
      return store
    },
    remove: async () => {
      await store.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

function openSqlite(dataDir: string, plan: Plan, readingThread?: ReadingThread): Promise<Store> {
  const open = existsSync(join(dataDir, DATABASE_FILE)) ? openStore : openNewStore
  return open({ dataDir, now: OPENED_AT, plans: () => plan, readingThread })
}

/** As the server opens it: lists and searches run in a thread. */
const sqliteInFolder: Backend = {
  name: 'sqlite in a folder',
  open: (plan) => inFolder((dataDir) => openSqlite(dataDir, plan, startReading(dataDir))),
}

const sqliteInMemory: Backend = {
  name: 'sqlite in memory',
  open: async (plan) => {
    const store = await openMemoryStore({ plans: () => plan })
    return { store, reopen: null, remove: () => store.close() }
  },
}

/** Every content, however short, is in object storage: a server for all tests of a file, and a prefix for each. */
export function objectsBackend(): Backend {
  let server: Promise<TestS3> | undefined
  let prefixes = 0
  return {
    name: 'sqlite with object storage',
    open: async (plan) => {
      server ??= startS3()
      const objects = s3Objects({ ...(await server).place, prefix: `${++prefixes}/` })
      return inFolder(async (dataDir) => withObjects(await openSqlite(dataDir, plan), objects, { minBytes: 1 }))
    },
    stop: async () => {
      await (await server)?.remove()
    },
  }
}

/** A server and a database for all tests of a file. */
export function postgresBackend(): Backend {
  keepSessions()
  let server: Promise<TestPostgres> | undefined
  let create: Promise<() => Promise<string>> | undefined
  return {
    name: 'postgresql',
    open: async (plan) => {
      server ??= startPostgres()
      create ??= server.then(createEmptied)
      const url = await (await create)()
      return inFolder((dataDir) => openPostgresStore({ url, dataDir, now: OPENED_AT, plans: () => plan }))
    },
    stop: async () => {
      await (await server)?.stop()
    },
  }
}

export const backends: Backend[] = [sqliteInFolder, sqliteInMemory]
