import type { Organization } from '../../model/organization.ts'
import type { Organizations } from '../store.ts'
import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'
import { rangeOf, toPage } from './page.ts'
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

export function sqliteOrganizations(db: Connection, writer: Writer, foreign: ForeignChanges): Organizations {
  const create = db.prepare(CREATE)
  const get = db.prepare(GET)
  const find = db.prepare(FIND)
  const list = db.prepare(LIST)
  const page = db.prepare(PAGE)
  const setPlan = db.prepare(SET_PLAN)
  const rename = db.prepare(RENAME)

  // Asked for at every request, for the plan.
  const cache = new Map<string, Organization>()
  foreign.onChange(() => cache.clear())
  const read = (id: string): Organization | null => {
    const organization = (get.get(id) as Organization | undefined) ?? null
    if (organization !== null) cache.set(id, organization)
    return organization
  }

  const current = (id: string) => {
    foreign.glance()
    return cache.get(id) ?? read(id)
  }

  return {
    create: (organization) =>
      writer.write(() => {
        const { id, name, plan, createdAt } = organization
        return create.run(id, name, plan, createdAt).changes > 0 ? 'created' : 'conflict'
      }),
    get: async (id) => current(id),
    current,
    find: async (idOrName) => (find.get(idOrName, idOrName) as Organization | undefined) ?? null,
    list: async () => list.all() as Organization[],
    page: async (asked) => toPage(page.all(...rangeOf(asked)) as Organization[], asked, (row) => row),
    setPlan: async (id, plan) => {
      await writer.write(() => {
        setPlan.run(plan, id)
      })
      cache.delete(id)
    },
    rename: async (id, name) => {
      const { changes } = await writer.write(() => rename.run(name, id))
      cache.delete(id)
      return changes > 0 ? 'renamed' : 'conflict'
    },
  }
}
