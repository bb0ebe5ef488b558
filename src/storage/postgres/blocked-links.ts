import { type BlockedLink, MOST_BLOCKED_LINKS } from '../../model/blocked-link.ts'
import { rangeOf, toPage } from '../page.ts'
import type { BlockedLinks } from '../store.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const COLUMNS = 'id, kind, value, reason, created_at::float8 as "createdAt"'
const ADD = 'insert into blocked_links (id, kind, value, reason, created_at) values ($1, $2, $3, $4, $5)'
const KNOWN =
  'select exists (select 1 from blocked_links where value = $1) as known, count(*)::int as count from blocked_links'
const ALL = `select ${COLUMNS} from blocked_links`
const LIST = `select ${COLUMNS} from blocked_links
  where id < $1 and created_at >= $2 and created_at < $3 order by id desc limit $4`
const REMOVE = 'delete from blocked_links where id = $1'

export const blockedLinkMirror = (): Mirror<BlockedLink> => createMirror(readerOf<BlockedLink>(ALL))

export function postgresBlockedLinks(reads: Reads, writer: Writer, mirror: Mirror<BlockedLink>): BlockedLinks {
  return {
    add: ({ id, kind, value, reason, createdAt }) =>
      writer.writeSettings(async ({ query, run, changed }) => {
        const [present] = await query<{ known: boolean; count: number }>(KNOWN, [value])
        if (present?.known) return 'conflict'
        if ((present?.count ?? 0) >= MOST_BLOCKED_LINKS) return 'limit'
        await run(ADD, [id, kind, value, reason, createdAt])
        changed('blockedLink', id)
        return 'added'
      }),
    get: async (id) => mirror.get(id),
    list: async (page) => toPage(await reads.query<BlockedLink>(LIST, rangeOf(page)), page, (row) => row),
    remove: (id) =>
      writer.writeSettings(async ({ run, changed }) => {
        await run(REMOVE, [id])
        changed('blockedLink', id)
      }),
  }
}
