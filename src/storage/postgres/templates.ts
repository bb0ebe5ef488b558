import type { Mode } from '../../model/message.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { templateStoredBytes } from '../../model/stored-bytes.ts'
import type { Template, TemplateContent, TemplateVersion } from '../../model/template.ts'
import { rangeOf, toPage } from '../page.ts'
import {
  type ListedTemplate,
  type ListedTemplateVersion,
  type TemplateRef,
  type Templates,
  type TemplateUserRef,
  USERS_SHOWN,
} from '../roles/templates.ts'
import { STORED_BYTES_OF_TEMPLATE } from '../stored-bytes.ts'
import {
  type ContentRow,
  isSameContent,
  packExtra,
  packUses,
  type TemplateRow,
  toContent,
  toTemplate,
  usesPattern,
} from '../template-rows.ts'
import type { RememberInside } from './idempotency.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const HEAD = `t.id, t.organization_id as "organizationId", t.alias, t.name, t.version,
  t.created_at::float8 as "createdAt", t.updated_at::float8 as "updatedAt", t.mode, t.kind`
const WITH_CONTENT = 'from templates t join template_versions v on v.template_id = t.id and v.version = t.version'
const WHOLE = `select ${HEAD}, t.sample, v.subject, v.variables, v.html, v.text, v.extra ${WITH_CONTENT}`
const CREATE = `insert into templates (id, organization_id, alias, name, version, created_at, updated_at, mode, sample, kind, uses)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
const ADD_VERSION = `insert into template_versions (template_id, version, created_at, subject, variables, html, text, extra)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const GET = `${WHOLE} where t.id = $1`
const FIND_BY_ALIAS = `${WHOLE} where t.organization_id = $1 and t.alias = $2 and t.mode = $3`
// By its ID, else by its alias: of the mode itself, for test mail also a live one.
const CURRENT = `select id, organization_id as "organizationId", version, mode, kind from templates
  where id = $2 or (organization_id = $1 and alias = $2 and mode in ($3, 'live'))
  order by id = $2 desc, mode = $3 desc limit 1`
const HOLDER = 'select id from templates where organization_id = $1 and alias = $2 and mode = $3'
const LIST = `select ${HEAD}, v.subject, v.variables ${WITH_CONTENT}
  where t.organization_id = $1 and t.id < $2 and t.created_at >= $3 and t.created_at < $4 order by t.id desc limit $5`
const UPDATE =
  'update templates set alias = $2, name = $3, version = $4, updated_at = $5, sample = $6, uses = $7 where id = $1'
const VERSION = `select version, created_at::float8 as "createdAt", subject, variables, html, text, extra
  from template_versions where template_id = $1 and version = $2`
const VERSIONS = `select version, created_at::float8 as "createdAt", subject, variables from template_versions
  where template_id = $1 and version < $2 order by version desc limit $3`
const COUNT = 'select count(*)::int as count from templates where organization_id = $1'
const OLD_BYTES = `select coalesce(sum(${STORED_BYTES_OF_TEMPLATE}), 0)::float8 as bytes from template_versions
  where template_id = $1 and version <= $2`
const REMOVE_OLD = 'delete from template_versions where template_id = $1 and version <= $2'
const USERS = `select id, alias, name from templates
  where organization_id = $1 and uses like $2 and (mode = 'test' or $3 = 'live') order by id limit $4`
const REMOVE = 'delete from templates where id = $1'

export function postgresTemplates(
  reads: Reads,
  writer: Writer,
  { remember, usage }: { remember: RememberInside; usage: Usage },
): Templates {
  const find = async (queries: Queries, text: string, values: unknown[]) =>
    wholeOrNull((await queries.query<TemplateRow>(text, values))[0])
  const count = async (queries: Queries, organizationId: string) =>
    (await queries.query<{ count: number }>(COUNT, [organizationId]))[0]?.count ?? 0
  const isTaken = async (
    { query }: Queries,
    { organizationId, mode, id }: Pick<Template, 'organizationId' | 'mode' | 'id'>,
    alias: string | null,
  ) => {
    if (alias === null) return false
    const [holder] = await query<{ id: string }>(HOLDER, [organizationId, alias, mode])
    return holder !== undefined && holder.id !== id
  }
  const bytesReached = (statements: Statements, organizationId: string, more: number) =>
    usage.reached(organizationId, 'stored_bytes', more, async () => {
      await usage.lock(statements, [organizationId])
      return usage.used(statements, organizationId, 'stored_bytes')
    })
  const keep = async (
    statements: Statements,
    of: { id: string; organizationId: string },
    number: number,
    content: TemplateContent,
    now: number,
  ) => {
    const { subject, variables, html, text } = content
    await statements.run(ADD_VERSION, [
      of.id,
      number,
      now,
      subject,
      JSON.stringify(variables),
      html,
      text,
      packExtra(content),
    ])
    await usage.add(statements, of.organizationId, 'stored_bytes', templateStoredBytes(content, packExtra(content)))
  }
  /** Deletes the versions up to one. */
  const removeOld = async (statements: Statements, of: { id: string; organizationId: string }, upTo: number) => {
    const [old] = await statements.query<{ bytes: number }>(OLD_BYTES, [of.id, upTo])
    await usage.add(statements, of.organizationId, 'stored_bytes', -(old?.bytes ?? 0))
    await statements.run(REMOVE_OLD, [of.id, upTo])
  }

  return {
    create: (template, record) =>
      writer.writeSettings(async (statements) => {
        const { id, organizationId, alias, name, version, createdAt, updatedAt, mode } = template
        if (await isTaken(statements, template, alias)) return 'conflict'
        const limit =
          (await usage.reached(organizationId, 'templates', 1, () => count(statements, organizationId))) ??
          (await bytesReached(statements, organizationId, templateStoredBytes(template, packExtra(template))))
        if (limit !== null) return limit
        const sample = JSON.stringify(template.sample)
        const head = [id, organizationId, alias, name, version, createdAt, updatedAt, mode, sample]
        await statements.run(CREATE, [...head, template.kind, packUses(template)])
        await keep(statements, template, version, template, createdAt)
        await remember(statements, record)
        return 'created'
      }),
    count: (organizationId) => count(reads, organizationId),
    get: (id) => find(reads, GET, [id]),
    findByAlias: (organizationId, alias, mode = 'live') => find(reads, FIND_BY_ALIAS, [organizationId, alias, mode]),
    current: async (organizationId, idOrAlias, mode: Mode = 'live') => {
      const [found] = await reads.query<TemplateRef>(CURRENT, [organizationId, idOrAlias, mode])
      return found ?? null
    },
    list: async (organizationId, page) =>
      toPage(await reads.query<Row<ListedTemplate>>(LIST, [organizationId, ...rangeOf(page)]), page, toRecord),
    update: (id, expected, { content, ...change }, now) =>
      writer.writeSettings(async (statements) => {
        const present = await find(statements, GET, [id])
        if (present === null) return { kind: 'unknown' as const }
        if (present.version !== expected) return { kind: 'changed' as const }
        const { organizationId } = present
        const { alias, name, sample } = { ...present, ...change }
        if (await isTaken(statements, present, alias)) return { kind: 'conflict' as const }
        const isNew = content !== undefined && !isSameContent(content, present)
        const number = isNew ? present.version + 1 : present.version
        const limit = isNew
          ? await bytesReached(statements, organizationId, templateStoredBytes(content, packExtra(content)))
          : null
        if (limit !== null) return limit
        const { templateVersions } = usage.planOf(organizationId)
        if (isNew) await keep(statements, present, number, content, now)
        if (isNew && templateVersions !== UNLIMITED) await removeOld(statements, present, number - templateVersions)
        const template = { ...present, ...(isNew ? content : {}), alias, name, sample, version: number, updatedAt: now }
        await statements.run(UPDATE, [id, alias, name, number, now, JSON.stringify(sample), packUses(template)])
        return { kind: 'updated' as const, template }
      }),
    version: async (id, number) =>
      versionOrNull((await reads.query<ContentRow<TemplateVersion>>(VERSION, [id, number]))[0]),
    versions: async (id, { limit, before }) => {
      const asked = [id, before ?? NEWEST, limit + 1]
      const rows = await reads.query<Row<ListedTemplateVersion>>(VERSIONS, asked)
      return toPage(rows, { limit, after: null }, toRecord)
    },
    usersOf: (organizationId, alias, mode) =>
      reads.query<TemplateUserRef>(USERS, [organizationId, usesPattern(alias), mode, USERS_SHOWN]),
    remove: (id) =>
      writer.writeSettings(async (statements) => {
        const present = await find(statements, GET, [id])
        if (present === null) return
        await removeOld(statements, present, present.version)
        await statements.run(REMOVE, [id])
      }),
  }
}

/** Above every version number. */
const NEWEST = 2 ** 31 - 1

type Row<T extends { variables: string[] }> = Omit<T, 'variables'> & { variables: string }

function wholeOrNull(row: TemplateRow | undefined): Template | null {
  return row === undefined ? null : toTemplate(row)
}

function toRecord<R extends { variables: string }>({ variables, ...rest }: R) {
  const parsed: string[] = JSON.parse(variables)
  return { ...rest, variables: parsed }
}

function versionOrNull(row: ContentRow<TemplateVersion> | undefined): TemplateVersion | null {
  return row === undefined ? null : toContent(row)
}
