import type { Template, TemplateContent, TemplateVersion } from '../../model/template.ts'
import type { ListedTemplate, StandingTemplate, Templates } from '../store.ts'
import type { Connection } from './driver.ts'
import type { RememberInside } from './idempotency.ts'
import { rangeOf, toPage } from './page.ts'
import type { Reading } from './reading.ts'
import type { Writer } from './writer.ts'

const HEAD = `t.id, t.organization_id as organizationId, t.alias, t.name, t.version, t.created_at as createdAt,
  t.updated_at as updatedAt`
const WITH_CONTENT = 'from templates t join template_versions v on v.template_id = t.id and v.version = t.version'
const WHOLE = `select ${HEAD}, v.subject, v.variables, v.html, v.text ${WITH_CONTENT}`
const CREATE = `insert into templates (id, organization_id, alias, name, version, created_at, updated_at)
  values (?, ?, ?, ?, ?, ?, ?)`
const ADD_VERSION = `insert into template_versions (template_id, version, created_at, subject, variables, html, text)
  values (?, ?, ?, ?, ?, ?, ?)`
const GET = `${WHOLE} where t.id = ?`
const FIND_BY_ALIAS = `${WHOLE} where t.organization_id = ? and t.alias = ?`
const STANDING = 'select id, organization_id as organizationId, version from templates where id = ?'
const STANDING_BY_ALIAS = `select id, organization_id as organizationId, version from templates
  where organization_id = ? and alias = ?`
const LIST = `select ${HEAD}, v.subject, v.variables ${WITH_CONTENT}
  where t.organization_id = ? and t.id < ? and t.created_at >= ? and t.created_at < ? order by t.id desc limit ?`
const UPDATE = 'update templates set alias = ?, name = ?, version = ?, updated_at = ? where id = ?'
const VERSION = `select version, created_at as createdAt, subject, variables, html, text from template_versions
  where template_id = ? and version = ?`
const VERSIONS = `select version, created_at as createdAt, subject, variables from template_versions
  where template_id = ? and version < ? order by version desc limit ?`
const REMOVE = 'delete from templates where id = ?'

export function sqliteTemplates(db: Connection, writer: Writer, reading: Reading, remember: RememberInside): Templates {
  const create = db.prepare(CREATE)
  const addVersion = db.prepare(ADD_VERSION)
  const get = db.prepare(GET)
  const findByAlias = db.prepare(FIND_BY_ALIAS)
  const standing = db.prepare(STANDING)
  const standingByAlias = db.prepare(STANDING_BY_ALIAS)
  const list = db.prepare(LIST)
  const update = db.prepare(UPDATE)
  const version = db.prepare(VERSION)
  const versions = db.prepare(VERSIONS)
  const remove = db.prepare(REMOVE)

  const find = (id: string) => toRecord(get.get(id) as Row<Template> | undefined)
  const isTaken = (organizationId: string, alias: string | null, id: string) => {
    if (alias === null) return false
    const holder = standingByAlias.get(organizationId, alias) as StandingTemplate | undefined
    return holder !== undefined && holder.id !== id
  }
  const keep = (id: string, number: number, content: TemplateContent, now: number) => {
    const { subject, variables, html, text } = content
    addVersion.run(id, number, now, subject, JSON.stringify(variables), html, text)
  }

  return {
    create: (template, record) =>
      writer.write(() => {
        const { id, organizationId, alias, name, createdAt, updatedAt } = template
        if (isTaken(organizationId, alias, id)) return 'conflict'
        create.run(id, organizationId, alias, name, template.version, createdAt, updatedAt)
        keep(id, template.version, template, createdAt)
        remember(record)
        return 'created'
      }),
    get: async (id) => find(id),
    findByAlias: async (organizationId, alias) =>
      toRecord(findByAlias.get(organizationId, alias) as Row<Template> | undefined),
    standing: (organizationId, idOrAlias) => {
      reading.begin()
      const found = standing.get(idOrAlias) ?? standingByAlias.get(organizationId, idOrAlias)
      return (found as StandingTemplate | undefined) ?? null
    },
    list: async (organizationId, page) =>
      toPage(list.all(organizationId, ...rangeOf(page)) as Row<ListedTemplate>[], page, (row) => toRecord(row)!),
    update: (id, expected, { content, ...change }, now) =>
      writer.write(() => {
        const present = find(id)
        if (present === null) return { kind: 'unknown' as const }
        if (present.version !== expected) return { kind: 'changed' as const }
        const { alias, name } = { ...present, ...change }
        if (isTaken(present.organizationId, alias, id)) return { kind: 'conflict' as const }
        const isNew = content !== undefined && !isSame(content, present)
        const number = isNew ? present.version + 1 : present.version
        if (isNew) keep(id, number, content, now)
        update.run(alias, name, number, now, id)
        return { kind: 'updated' as const, template: find(id)! }
      }),
    version: async (id, number) => toRecord(version.get(id, number) as Row<TemplateVersion> | undefined),
    versions: async (id, { limit, before }) => {
      const rows = versions.all(id, before ?? Number.MAX_SAFE_INTEGER, limit + 1)
      return toPage(
        rows as Row<Omit<TemplateVersion, 'html' | 'text'>>[],
        { limit, after: null },
        (row) => toRecord(row)!,
      )
    },
    remove: (id) =>
      writer.write(() => {
        remove.run(id)
      }),
  }
}

type Row<T extends { variables: string[] }> = Omit<T, 'variables'> & { variables: string }

function toRecord<T extends { variables: string[] }>(row: Row<T> | undefined): T | null {
  return row === undefined ? null : ({ ...row, variables: JSON.parse(row.variables) } as unknown as T)
}

/** Their variables follow from the texts. */
function isSame(content: TemplateContent, present: TemplateContent): boolean {
  return content.subject === present.subject && content.html === present.html && content.text === present.text
}
