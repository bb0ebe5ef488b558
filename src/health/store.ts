import { type Store, StoreUnavailable } from '../storage/store.ts'
import { fail, pass, type Verdict } from './check.ts'

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
