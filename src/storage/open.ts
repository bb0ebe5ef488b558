import type { Plan } from '../model/organization.ts'
import type { CommitListener } from './commit-reports.ts'
import { requireNotMoved } from './moving/moved.ts'
import { withObjects } from './objects/contents.ts'
import type { ObjectPlace } from './objects/objects.ts'
import { s3Objects } from './objects/s3.ts'
import type { NodeOptions } from './postgres/node-options.ts'
import { openStore as openSqliteStore } from './sqlite/open.ts'
import type { ReadingThread } from './sqlite/reader.ts'
import type { Store } from './store.ts'

export interface OpenOptions {
  dataDir: string
  /** URL of a PostgreSQL database, '' = the SQLite file in the data directory; and a PEM file with its CA certificates,
   *  null = the built-in ones. */
  database: { url: string; caFile: string | null }
  /** Where large contents are kept; null = in the database. */
  objects: ObjectPlace | null
  now: number
  /** Clock in ms UTC; the system's by default. PostgreSQL only. */
  clock?: () => number
  plans: (name: string) => Plan
  /** Of the disk of the data directory; new mail is refused below it. SQLite only. */
  minFreeBytes: number
  commitListener?: CommitListener
  onUpgrade?: (steps: readonly string[]) => void
  /** In the process that serves: the size of an unfinished change at the end of SQLite's log. */
  onTorn?: (bytes: number) => void
  /** Runs lists, searches and statistics, and ends with the store. SQLite only. */
  readingThread?: ReadingThread | undefined
  /** PostgreSQL only. */
  node?: NodeOptions
}

/** Opens the store of the config: SQLite, or PostgreSQL if there is a URL; with large contents in object storage, if it
 *  has a place. Rejects as openPostgresStore and the openStore of SQLite, and with StoreMoved if
 *  the data is elsewhere. Object storage is not contacted yet. Loads the modules
 *  of PostgreSQL only when it is used. */
export async function openStore({ objects, ...options }: OpenOptions): Promise<Store> {
  const store = await openDatabase(options)
  return objects === null ? store : withObjects(store, s3Objects(objects), { folder: await folderOf(store) })
}

/** Folder of new objects: of this installation, and a new one after each restore, since the original may still run. */
async function folderOf(store: Store): Promise<string> {
  const id = Buffer.from(await store.secret('objects', crypto.getRandomValues(new Uint8Array(8)))).toString('hex')
  const restored = await store.held.restored()
  return restored === null ? `${id}/` : `${id}-${restored.restoredAt}/`
}

async function openDatabase(options: Omit<OpenOptions, 'objects'>): Promise<Store> {
  const { database, minFreeBytes, onTorn, readingThread, clock, node, ...shared } = options
  if (database.url === '') {
    requireNotMoved(shared.dataDir)
    return openSqliteStore({ ...shared, minFreeBytes, readingThread, ...(onTorn === undefined ? {} : { onTorn }) })
  }
  const given = { ...(clock === undefined ? {} : { clock }), ...(node === undefined ? {} : { node }) }
  const { openPostgresStore } = await import('./postgres/open.ts')
  return openPostgresStore({ ...shared, ...database, ...given })
}
