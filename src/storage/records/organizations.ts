import type { Organization } from '../../model/organization.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { changing, type Database, run, sql } from '../sql.ts'

const COLUMNS = 'id, name, plan, created_at as "createdAt"'
const CREATE = sql(`insert into organizations (id, name, plan, created_at) values ($1, $2, $3, $4)
  on conflict (name) do nothing`)
export const ORGANIZATIONS = sql<Organization>(`select ${COLUMNS} from organizations`)
export const ORGANIZATION = sql<Organization>(`select ${COLUMNS} from organizations where id = $1`)
const FIND = sql<Organization>(`select ${COLUMNS} from organizations where id = $1 or name = $1`)
const LIST = sql<Organization>(`select ${COLUMNS} from organizations order by id`)
const PAGE = sql<Organization>(`select ${COLUMNS} from organizations
  where id < $1 and created_at >= $2 and created_at < $3 order by id desc limit $4`)
const SET_PLAN = sql('update organizations set plan = $2 where id = $1')
const RENAME = sql(`update organizations set name = $2
  where id = $1 and not exists (select 1 from organizations where name = $2 and id <> $1)`)

/** `get` returns what is in memory. */
export function organizationRecords(database: Database, get: (id: string) => Organization | null) {
  const change = changing(database, 'organization')
  return {
    /** `conflict` if another one has that name; then nothing is written. */
    create: ({ id, name, plan, createdAt }: Organization): Promise<'created' | 'conflict'> =>
      change(id, function* () {
        return (yield* run(CREATE, id, name, plan, createdAt)) > 0 ? 'created' : 'conflict'
      }),
    get: async (id: string): Promise<Organization | null> => get(id),
    /** Finds by ID or name. */
    find: (idOrName: string): Promise<Organization | null> => database.row(FIND, idOrName),
    list: (): Promise<Organization[]> => database.rows(LIST),
    /** Newest first. */
    page: async (page: RecordsRequest): Promise<Page<Organization>> =>
      toPage(await database.rows(PAGE, ...rangeOf(page)), page, (row) => row),
    setPlan: async (id: string, plan: string): Promise<void> => {
      await change(id, () => run(SET_PLAN, id, plan))
    },
    /** `conflict` when another organization has that name. */
    rename: (id: string, name: string): Promise<'renamed' | 'conflict'> =>
      change(id, function* () {
        return (yield* run(RENAME, id, name)) > 0 ? 'renamed' : 'conflict'
      }),
  }
}
