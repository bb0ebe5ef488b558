import { insideMail } from '../mail/inside.ts'
import type { Database } from '../sql.ts'
import type { Store } from '../store.ts'
import { nextTurn } from './next-turn.ts'
import type { Search } from './search.ts'
import type { Space } from './space.ts'

/** Maintenance of the file: the full text index, and space. The last step for what was removed empties the log of changes, some
 *  milliseconds at once. */
export function sqliteFileMaintenance(database: Database, search: Search, space: Space): Store['maintain'] {
  const giveBack = async (timeIsUp: () => boolean) => {
    const isMore = await database.write(function* () {
      timeIsUp() // the time begins here, after the wait for the writer
      return yield* space.giveBack(yield* insideMail(), timeIsUp)
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
