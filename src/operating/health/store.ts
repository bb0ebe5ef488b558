import { type Store, StoreUnavailable } from '../../storage/store.ts'
import { fail, pass, skip, type Verdict } from './check.ts'

/** Checks that the store accepts changes. Its files were checked when it was opened. */
export async function checkStore(store: Pick<Store, 'checkWritable'>): Promise<Verdict> {
  try {
    await store.checkWritable()
    return pass('database intact and writable')
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return fail(
      error.message,
      error.isFull
        ? 'Free space on the disk of data_dir.'
        : 'Another process may have locked it. Check the server log.',
    )
  }
}

/** Checks that object storage keeps what is written, if large contents are there. */
export async function checkObjectStorage({ contents }: Pick<Store, 'contents'>): Promise<Verdict> {
  try {
    return (await contents.checkObjects())
      ? pass('writes, reads and deletes objects')
      : skip('storage.contents is not set; contents are in the database')
  } catch (error) {
    const advice = 'Check storage.contents, its credentials and their rights, and whether the service is reachable.'
    return fail(error instanceof Error ? error.message : String(error), advice)
  }
}
