import type { Store } from '../store.ts'
import { nextTurn } from './page.ts'
import type { Search } from './search.ts'
import type { Space } from './space.ts'
import type { Writer } from './writer.ts'

/** Maintenance of the file: the full text index, and space. The last step for what was removed empties the log of changes, some
 *  milliseconds at once. */
export function sqliteFileMaintenance(writer: Writer, search: Search, space: Space): Store['maintain'] {
  const giveBack = async (timeIsUp: () => boolean) => {
    const isMore = await writer.write(() => {
      timeIsUp() // the time begins here, after the wait for the writer
      return space.giveBack(timeIsUp)
    })
    await nextTurn()
    space.copyLog()
    return isMore
  }
  return async (what, timeIsUp) => {
    if (what === 'ended') return false
    if (what === 'recent') return search.index()
    if (await search.clean()) return true
    if (await giveBack(timeIsUp)) return true
    space.truncateLog()
    return false
  }
}
