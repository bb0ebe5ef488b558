import { type BlockedLink, MOST_BLOCKED_LINKS } from '../../model/blocked-link.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changed, changing, type Database, row, run, sql } from '../sql.ts'

const COLUMNS = 'id, kind, value, reason, created_at as "createdAt"'
const ADD = sql('insert into blocked_links (id, kind, value, reason, created_at) values ($1, $2, $3, $4, $5)')
const PRESENT = sql<{ isKnown: boolean; count: number }>(`select
    exists (select 1 from blocked_links where value = $1)::boolean as "isKnown", count(*) as count
  from blocked_links`)
const GET = sql<BlockedLink>(`select ${COLUMNS} from blocked_links where id = $1`)
const LIST = sql<BlockedLink>(`select ${COLUMNS} from blocked_links
  where id < $1 and created_at >= $2 and created_at < $3 order by id desc limit $4`)
/** All of them: at most MOST_BLOCKED_LINKS. */
export const BLOCKED_LINKS = sql<BlockedLink>(`select ${COLUMNS} from blocked_links`)
const REMOVE = sql('delete from blocked_links where id = $1')

/** Click targets that the operator has blocked. */
export function blockedLinkRecords(database: Database) {
  return {
    /** `conflict`: already blocked; `limit`: MOST_BLOCKED_LINKS is reached. */
    add: ({ id, kind, value, reason, createdAt }: BlockedLink): Promise<'added' | 'conflict' | 'limit'> =>
      database.write(function* () {
        const present = yield* row(PRESENT, value)
        if (present?.isKnown) return 'conflict'
        if (present !== null && present.count >= MOST_BLOCKED_LINKS) return 'limit'
        yield* run(ADD, id, kind, value, reason, createdAt)
        yield* changed('blockedLink', id)
        return 'added'
      }, 'settings'),
    get: (id: string): Promise<BlockedLink | null> => database.row(GET, id),
    list: async (page: RecordsRequest): Promise<Page<BlockedLink>> =>
      toPage(await database.rows(LIST, ...rangeOf(page)), page, (row) => row),
    remove: async (id: string): Promise<void> => {
      await changing(database, 'blockedLink')(id, () => run(REMOVE, id))
    },
  }
}
