import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'

/** A way to keep what Store promises; every one of them is held against test/storage/contract.ts. */
export interface Backend {
  name: string
  /** An empty store. */
  open(): Promise<OpenedBackend>
}

export interface OpenedBackend {
  store: Store
  /** Closes the store and opens what it has kept; null where nothing outlives the process. */
  reopen: (() => Promise<Store>) | null
  /** Closes what is open and takes everything away. */
  remove(): Promise<void>
}

/** Any time will do; the stores never look at a clock. */
const OPENED_AT = Date.UTC(2026, 10, 21)

const sqliteInFolder: Backend = {
  name: 'sqlite in a folder',
  open: async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-store-'))
    let store = await openStore({ dataDir, now: OPENED_AT })
    return {
      store,
      reopen: async () => {
        await store.close()
        store = await openStore({ dataDir, now: OPENED_AT })
        return store
      },
      remove: async () => {
        await store.close()
        rmSync(dataDir, { recursive: true })
      },
    }
  },
}

const sqliteInMemory: Backend = {
  name: 'sqlite in memory',
  open: async () => {
    const store = await openStore({ dataDir: ':memory:', now: OPENED_AT })
    return { store, reopen: null, remove: () => store.close() }
  },
}

export const backends: Backend[] = [sqliteInFolder, sqliteInMemory]
