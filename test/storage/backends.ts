import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'

/** An implementation of Store; test/storage/contract.ts tests each. */
export interface Backend {
  name: string
  /** An empty store. */
  open(): Promise<OpenedBackend>
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
