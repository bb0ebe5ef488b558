import { type BlockedLink, MOST_BLOCKED_LINKS } from '../../model/blocked-link.ts'
import { rangeOf, toPage } from '../page.ts'
import type { BlockedLinks } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { Writer } from './writer.ts'

const COLUMNS = 'id, kind, value, reason, created_at as createdAt'
const ADD = 'insert into blocked_links (id, kind, value, reason, created_at) values (?, ?, ?, ?, ?)'
const KNOWN = 'select 1 from blocked_links where value = ?'
const COUNT = 'select count(*) from blocked_links'
const GET = `select ${COLUMNS} from blocked_links where id = ?`
const LIST = `select ${COLUMNS} from blocked_links where id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const ALL = `select ${COLUMNS} from blocked_links order by id limit ?`
const REMOVE = 'delete from blocked_links where id = ?'

export interface BlockedLinkCache {
  all(): readonly BlockedLink[]
  drop(): void
}

/** All blocked links, read once and again after a change. */
export function blockedLinkCache(db: Connection, foreign: ForeignChanges): BlockedLinkCache {
  const all = db.prepare<unknown[], BlockedLink>(ALL)
  let known: readonly BlockedLink[] | null = null
  const drop = () => {
    known = null
  }
  foreign.onChange(drop)
  return {
    all: () => {
      foreign.glance()
      known ??= all.all(MOST_BLOCKED_LINKS)
      return known
    },
    drop,
  }
}

export function sqliteBlockedLinks(db: Connection, writer: Writer, cache: BlockedLinkCache): BlockedLinks {
  const add = db.prepare(ADD)
  const known = db.prepare(KNOWN)
  const count = db.prepare<unknown[], number>(COUNT).pluck()
  const get = db.prepare<unknown[], BlockedLink>(GET)
  const list = db.prepare<unknown[], BlockedLink>(LIST)
  const remove = db.prepare(REMOVE)
  const change = <T>(write: () => T): Promise<T> =>
    writer.write(() => {
      const value = write()
      cache.drop()
      return value
    })
  return {
    add: ({ id, kind, value, reason, createdAt }) =>
      change(() => {
        if (known.get(value) !== undefined) return 'conflict'
        if (one(count) >= MOST_BLOCKED_LINKS) return 'limit'
        add.run(id, kind, value, reason, createdAt)
        return 'added'
      }),
    get: async (id) => get.get(id) ?? null,
    list: async (page) => toPage(list.all(...rangeOf(page)), page, (row) => row),
    remove: (id) =>
      change(() => {
        remove.run(id)
      }),
  }
}
