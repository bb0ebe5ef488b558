import type { Organization } from '../../model/organization.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Organizations } from '../store.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import type { Writer } from './writer.ts'

const COLUMNS = 'id, name, plan, created_at as createdAt'
const CREATE = `insert into organizations (id, name, plan, created_at) values (?, ?, ?, ?)
  on conflict (name) do nothing`
const GET = `select ${COLUMNS} from organizations where id = ?`
const FIND = `select ${COLUMNS} from organizations where id = ? or name = ?`
const LIST = `select ${COLUMNS} from organizations order by id`
const PAGE = `select ${COLUMNS} from organizations
  where id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const SET_PLAN = 'update organizations set plan = ? where id = ?'
const RENAME = 'update or ignore organizations set name = ? where id = ?'

/** Organizations for every request and every change, cached until something changes. */
export interface OrganizationCache {
  /** The organization; null if there is none. For changes, which have already checked for those of other processes. */
  get(id: string): Organization | null
  drop(id: string): void
}

export function organizationCache(db: Connection, foreign: ForeignChanges): OrganizationCache {
  const get = db.prepare<unknown[], Organization>(GET)
  const cache = new Map<string, Organization>()
  foreign.onChange(() => cache.clear())
  return {
    get: (id) => {
      const known = cache.get(id)
      if (known !== undefined) return known
      const organization = get.get(id) ?? null
      if (organization !== null) cache.set(id, organization)
      return organization
    },
    drop: (id) => cache.delete(id),
  }
}

export function sqliteOrganizations(
  db: Connection,
  writer: Writer,
  cache: OrganizationCache,
  foreign: ForeignChanges,
): Organizations {
  const create = db.prepare(CREATE)
  const find = db.prepare<unknown[], Organization>(FIND)
  const list = db.prepare<unknown[], Organization>(LIST)
  const page = db.prepare<unknown[], Organization>(PAGE)
  const setPlan = db.prepare(SET_PLAN)
  const rename = db.prepare(RENAME)

  const current = (id: string) => {
    foreign.glance()
    return cache.get(id)
  }

  return {
    create: (organization) =>
      writer.write(() => {
        const { id, name, plan, createdAt } = organization
        return create.run(id, name, plan, createdAt).changes > 0 ? 'created' : 'conflict'
      }),
    get: async (id) => current(id),
    find: async (idOrName) => find.get(idOrName, idOrName) ?? null,
    list: async () => list.all(),
    page: async (asked) => toPage(page.all(...rangeOf(asked)), asked, (row) => row),
    setPlan: async (id, plan) => {
      await writer.write(() => {
        setPlan.run(plan, id)
        cache.drop(id) // the next change of the same group goes by it
      })
      cache.drop(id)
    },
    rename: async (id, name) => {
      const { changes } = await writer.write(() => rename.run(name, id))
      cache.drop(id)
      return changes > 0 ? 'renamed' : 'conflict'
    },
  }
}
