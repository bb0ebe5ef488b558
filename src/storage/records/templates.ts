import { isDeepStrictEqual } from 'node:util'
import type { Remember } from '../../model/idempotency.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { templateStoredBytes } from '../../model/stored-bytes.ts'
import { aliasFault, type Template, type TemplateContent, type TemplateVersion } from '../../model/template.ts'
import { limitReached, planOf, remember, stored, used } from '../inside.ts'
import { type Page, type RecordsRequest, rangeOf, toPage } from '../page.ts'
import { type Database, row, rows, run, type Statement, sql, type Value, type Work } from '../sql.ts'
import { STORED_BYTES_OF_TEMPLATE } from '../stored-bytes.ts'

export type TemplateRef = Pick<Template, 'id' | 'organizationId' | 'version' | 'mode' | 'kind'>

/** A template that uses another. */
export type TemplateUserRef = Pick<Template, 'id' | 'alias' | 'name'>

export const USERS_SHOWN = 20

export type ListedTemplate = Omit<Template, Unlisted | 'sample'>
export type ListedTemplateVersion = Omit<TemplateVersion, Unlisted>
type Unlisted = 'html' | 'mjml' | 'text' | 'layout' | 'uses' | 'locales'

interface TemplateChange {
  alias?: string | null
  name?: string
  sample?: Template['sample']
  content?: TemplateContent
}
type UpdatedTemplate =
  | { kind: 'updated'; template: Template }
  | { kind: 'changed' | 'conflict' | 'unknown' }
  | LimitReached

type Row<T extends { variables: string[] }> = Omit<T, 'variables'> & { variables: string }

/** A row with the content of one version. `variables` and `extra` are JSON. */
type ContentRow<T extends TemplateContent> = Omit<Row<T>, keyof Extra> & { extra: string | null }
/** `sample` is JSON. */
type TemplateRow = Omit<ContentRow<Template>, 'sample'> & { sample: string }
type Extra = Pick<TemplateContent, 'mjml' | 'layout' | 'uses' | 'locales'>

const HEAD = `t.id, t.organization_id as "organizationId", t.alias, t.name, t.version, t.created_at as "createdAt",
  t.updated_at as "updatedAt", t.mode, t.kind`
const WITH_CONTENT = 'from templates t join template_versions v on v.template_id = t.id and v.version = t.version'
const WHOLE = `select ${HEAD}, t.sample, v.subject, v.variables, v.html, v.text, v.extra ${WITH_CONTENT}`
const CREATE = sql(`insert into templates (id, organization_id, alias, name, version, created_at, updated_at, mode,
    sample, kind, uses)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`)
const ADD_VERSION = sql(`insert into template_versions (template_id, version, created_at, subject,
    variables, html, text, extra)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`)
const GET = sql<TemplateRow>(`${WHOLE} where t.id = $1`)
const FIND_BY_ALIAS = sql<TemplateRow>(`${WHOLE} where t.organization_id = $1 and t.alias = $2 and t.mode = $3`)
const CURRENT = `select id, organization_id as "organizationId", version, mode, kind from templates`
const CURRENT_OF_ID = sql<TemplateRef>(`${CURRENT} where id = $1`)
const CURRENT_OF_ALIAS = sql<TemplateRef>(`${CURRENT} where organization_id = $1 and alias = $2 and mode = $3`)
const LIST = sql<Row<ListedTemplate>>(`select ${HEAD}, v.subject, v.variables ${WITH_CONTENT}
  where t.organization_id = $1 and t.id < $2 and t.created_at >= $3 and t.created_at < $4 order by t.id desc limit $5`)
const UPDATE = sql(`update templates set alias = $2, name = $3, version = $4, updated_at = $5, sample = $6, uses = $7
  where id = $1`)
const VERSION = sql<ContentRow<TemplateVersion>>(`select version, created_at as "createdAt", subject, variables, html,
    text, extra
  from template_versions where template_id = $1 and version = $2`)
const VERSIONS = sql<Row<ListedTemplateVersion>>(`select version, created_at as "createdAt", subject, variables
  from template_versions where template_id = $1 and version < $2 order by version desc limit $3`)
const COUNT = sql<{ count: number }>('select count(*) as count from templates where organization_id = $1')
const REMOVE_OLDEST = sql<{ place: unknown; bytes: number }>(`delete from template_versions
  where ctid = any(array(select ctid from template_versions where template_id = $1 and version <= $2
    order by version limit $3))
  returning ctid as place, ${STORED_BYTES_OF_TEMPLATE} as bytes`)
const USERS = sql<TemplateUserRef>(`select id, alias, name from templates
  where organization_id = $1 and uses like $2 and (mode = 'test' or $3 = 'live') order by id limit $4`)
const REMOVE = sql('delete from templates where id = $1')

/** Above every version number. */
const NEWEST = 2 ** 31 - 1
/** Versions deleted in one transaction, of a removed template or beyond the plan's limit: some milliseconds, since
 *  the texts of one may have megabytes. */
const REMOVE_MAX = 4

export function templateRecords(database: Database) {
  const whole = async (statement: Statement<TemplateRow>, ...values: Value[]) => {
    const found = await database.row(statement, ...values)
    return found === null ? null : toTemplate(found)
  }
  return {
    /** Also stores its first version. `conflict` if another template of the organization has that alias. */
    create: (template: Template, record?: Remember): Promise<'created' | 'conflict' | LimitReached> =>
      database.write(function* () {
        const { id, organizationId, alias, name, version, createdAt, updatedAt, mode, kind } = template
        if (yield* isTaken(template, alias)) return 'conflict'
        const limit =
          (yield* limitReached(yield* planOf(organizationId), 'templates', () => count(organizationId))) ??
          (yield* bytesReached(organizationId, bytesOf(template)))
        if (limit !== null) return limit
        const head = [id, organizationId, alias, name, version, createdAt, updatedAt, mode]
        yield* run(CREATE, ...head, JSON.stringify(template.sample), kind, packUses(template))
        yield* keep(template, version, template, createdAt)
        yield* remember(record)
        return 'created'
      }, 'settings'),
    count: async (organizationId: string): Promise<number> => (await database.row(COUNT, organizationId))?.count ?? 0,
    get: (id: string): Promise<Template | null> => whole(GET, id),
    /** Live and test templates have separate aliases; `live` by default. */
    findByAlias: (organizationId: string, alias: string, mode: Mode = 'live'): Promise<Template | null> =>
      whole(FIND_BY_ALIAS, organizationId, alias, mode),
    /** ID of any template, or alias of the organization → the template and its current version; null if there is none.
     *  An alias refers to a live template, for test mail to a test one if there is one. */
    current: (organizationId: string, idOrAlias: string, mode: Mode = 'live'): Promise<TemplateRef | null> =>
      database.read(() => current(organizationId, idOrAlias, mode)),
    /** Without texts and `sample`: a page of complete templates could be fifty megabytes. */
    list: async (organizationId: string, page: RecordsRequest): Promise<Page<ListedTemplate>> =>
      toPage(await database.rows(LIST, organizationId, ...rangeOf(page)), page, toRecord),
    /** Changes the given fields; `sample` as a whole. Content is given as a whole and becomes a new version if one of its
     *  texts differs from the current one; the oldest versions beyond the plan's limit are deleted. `changed` if version
     *  `expected` is no longer current, `conflict` if the alias is in use; then nothing is written. */
    update: (id: string, expected: number, change: TemplateChange, now: number): Promise<UpdatedTemplate> =>
      database.write(() => update(id, expected, change, now), 'settings'),
    version: async (id: string, number: number): Promise<TemplateVersion | null> => {
      const found = await database.row(VERSION, id, number)
      return found === null ? null : toContent(found)
    },
    /** Newest first, those before version `before` (null = from the newest), without the texts. */
    versions: async (
      id: string,
      { limit, before }: { limit: number; before: number | null },
    ): Promise<Page<ListedTemplateVersion>> =>
      toPage(await database.rows(VERSIONS, id, before ?? NEWEST, limit + 1), { limit, after: null }, toRecord),
    /** Templates of the organization whose current version has this alias as layout or partial, the oldest first: live
     *  and test ones for a live alias, test ones for a test alias. At most USERS_SHOWN. */
    usersOf: (organizationId: string, alias: string, mode: Mode): Promise<TemplateUserRef[]> =>
      database.rows(USERS, organizationId, usesPattern(alias), mode, USERS_SHOWN),
    /** Removes it with its versions, in several transactions. An interruption leaves a template with its newest versions,
     *  which can be removed again. Messages made from it stay. */
    remove: async (id: string): Promise<void> => {
      while (!(await database.write(() => remove(id), 'settings')));
    },
  }
}

function* update(
  id: string,
  expected: number,
  { content, ...change }: TemplateChange,
  now: number,
): Work<UpdatedTemplate> {
  const found = yield* row(GET, id)
  if (found === null) return { kind: 'unknown' }
  const present = toTemplate(found)
  if (present.version !== expected) return { kind: 'changed' }
  const { alias, name, sample } = { ...present, ...change }
  if (yield* isTaken(present, alias)) return { kind: 'conflict' }
  const fresh = content === undefined || isSameContent(content, present) ? null : content
  const isSame = alias === present.alias && name === present.name && isDeepStrictEqual(sample, present.sample)
  if (fresh === null && isSame) return { kind: 'updated', template: present }
  const version = fresh === null ? present.version : present.version + 1
  if (fresh !== null) {
    const limit = yield* bytesReached(present.organizationId, bytesOf(fresh))
    if (limit !== null) return limit
    yield* keep(present, version, fresh, now)
    const { templateVersions } = yield* planOf(present.organizationId)
    if (templateVersions !== UNLIMITED) yield* removeSome(present, version - templateVersions)
  }
  const template = { ...present, ...fresh, alias, name, sample, version, updatedAt: now }
  yield* run(UPDATE, id, alias, name, version, now, JSON.stringify(sample), packUses(template))
  return { kind: 'updated', template }
}

/** Removes some versions, and with the last one the template → true once it is gone. */
function* remove(id: string): Work<boolean> {
  const present = yield* row(CURRENT_OF_ID, id)
  if (present === null) return true
  if (yield* removeSome(present, present.version - 1)) return false
  yield* removeSome(present, present.version)
  yield* run(REMOVE, id)
  return true
}

/** An alias refers to a template of the mode itself, for test mail also to a live one. */
function* current(organizationId: string, idOrAlias: string, mode: Mode): Work<TemplateRef | null> {
  if (aliasFault(idOrAlias) !== null) return yield* row(CURRENT_OF_ID, idOrAlias)
  const found = yield* row(CURRENT_OF_ALIAS, organizationId, idOrAlias, mode)
  return found === null && mode === 'test' ? yield* row(CURRENT_OF_ALIAS, organizationId, idOrAlias, 'live') : found
}

/** Whether another template has the alias. */
function* isTaken(
  { organizationId, mode, id }: Pick<Template, 'organizationId' | 'mode' | 'id'>,
  alias: string | null,
): Work<boolean> {
  const holder = alias === null ? null : yield* row(CURRENT_OF_ALIAS, organizationId, alias, mode)
  return holder !== null && holder.id !== id
}

/** The limit of stored bytes that `more` would exceed; null if there is none. */
function* bytesReached(organizationId: string, more: number): Work<LimitReached | null> {
  const present = () => used(organizationId, 'stored_bytes')
  return yield* limitReached(yield* planOf(organizationId), 'stored_bytes', present, more)
}

function* count(organizationId: string): Work<number> {
  return (yield* row(COUNT, organizationId))?.count ?? 0
}

function* keep(
  { id, organizationId }: Pick<Template, 'id' | 'organizationId'>,
  number: number,
  content: TemplateContent,
  now: number,
): Work<void> {
  const { subject, variables, html, text } = content
  const values = [subject, JSON.stringify(variables), html, text, packExtra(content)]
  yield* run(ADD_VERSION, id, number, now, ...values)
  yield* stored('templates', [{ organizationId, place: null, bytes: bytesOf(content) }])
}

/** Deletes some of the oldest versions up to one → true while there may be more. */
function* removeSome({ id, organizationId }: Pick<Template, 'id' | 'organizationId'>, upTo: number): Work<boolean> {
  const removed = yield* rows(REMOVE_OLDEST, id, upTo, REMOVE_MAX)
  yield* stored(
    'templates',
    removed.map(({ place, bytes }) => ({ organizationId, place, bytes: -bytes })),
  )
  return removed.length === REMOVE_MAX
}

const bytesOf = (content: TemplateContent) => templateStoredBytes(content, packExtra(content))

/** Content → the column `extra`; null for a template without MJML, layout, partials and other languages. */
function packExtra({ mjml, layout, uses, locales }: TemplateContent): string | null {
  const isPlain = mjml === null && layout === null && uses.length === 0 && Object.keys(locales).length === 0
  return isPlain ? null : JSON.stringify({ mjml, layout, uses, locales } satisfies Extra)
}

/** Content → the column `uses`, without repetition. */
function packUses({ layout, uses }: TemplateContent): string {
  return JSON.stringify([...new Set(layout === null ? uses : [layout, ...uses])])
}

/** Alias → the pattern of `like` for the column `uses`: an alias has no character that `like` treats as special. */
const usesPattern = (alias: string) => `%"${alias}"%`

function toRecord<R extends { variables: string }>({ variables, ...rest }: R) {
  const parsed: string[] = JSON.parse(variables)
  return { ...rest, variables: parsed }
}

/** The inverse of packExtra, for a whole row. */
function toContent<R extends { variables: string; extra: string | null }>({ extra, ...rest }: R) {
  const { mjml, layout, uses, locales }: Extra = extra === null ? NO_PARTS : JSON.parse(extra)
  return { ...toRecord(rest), mjml, layout, uses, locales }
}

const NO_PARTS: Extra = { mjml: null, layout: null, uses: [], locales: {} }

function toTemplate({ sample, ...rest }: TemplateRow): Template {
  return { ...toContent(rest), sample: JSON.parse(sample) }
}

/** Whether the texts are the same. Their variables follow from them. */
function isSameContent(one: TemplateContent, other: TemplateContent): boolean {
  const isSameText = one.subject === other.subject && one.html === other.html && one.text === other.text
  return isSameText && packExtra(one) === packExtra(other)
}
