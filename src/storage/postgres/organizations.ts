import type { Organization } from '../../model/organization.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Organizations } from '../store.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const COLUMNS = 'id, name, plan, created_at::float8 as "createdAt"'
const CREATE = `insert into organizations (id, name, plan, created_at) values ($1, $2, $3, $4)
  on conflict (name) do nothing`
const ALL = `select ${COLUMNS} from organizations`
const FIND = `select ${COLUMNS} from organizations where id = $1 or name = $1`
const LIST = `select ${COLUMNS} from organizations order by id`
const PAGE = `select ${COLUMNS} from organizations
  where id < $1 and created_at >= $2 and created_at < $3 order by id desc limit $4`
const SET_PLAN = 'update organizations set plan = $2 where id = $1'
const RENAME = `update organizations set name = $2
  where id = $1 and not exists (select 1 from organizations where name = $2 and id <> $1)`

export const organizationMirror = (): Mirror<Organization> => createMirror(readerOf<Organization>(ALL))

export function postgresOrganizations(reads: Reads, writer: Writer, mirror: Mirror<Organization>): Organizations {
  return {
    create: ({ id, name, plan, createdAt }) =>
      writer.writeSettings(async ({ run, changed }) => {
        changed('organization', id)
        return (await run(CREATE, [id, name, plan, createdAt])) > 0 ? 'created' : 'conflict'
      }),
    get: async (id) => mirror.get(id),
    find: async (idOrName) => (await reads.query<Organization>(FIND, [idOrName]))[0] ?? null,
    list: () => reads.query<Organization>(LIST),
    page: async (asked) => toPage(await reads.query<Organization>(PAGE, rangeOf(asked)), asked, (row) => row),
    setPlan: (id, plan) =>
      writer.writeSettings(async ({ run, changed }) => {
        changed('organization', id)
        await run(SET_PLAN, [id, plan])
      }),
    rename: (id, name) =>
      writer.writeSettings(async ({ run, changed }) => {
        changed('organization', id)
        return (await run(RENAME, [id, name])) > 0 ? 'renamed' : 'conflict'
      }),
  }
}
