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
import { type Connection, one } from './driver.ts'
import type { RememberInside } from './idempotency.ts'
import type { Reading } from './reading.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const HEAD = `t.id, t.organization_id as organizationId, t.alias, t.name, t.version, t.created_at as createdAt,
  t.updated_at as updatedAt, t.mode, t.kind`
const WITH_CONTENT = 'from templates t join template_versions v on v.template_id = t.id and v.version = t.version'
const WHOLE = `select ${HEAD}, t.sample, v.subject, v.variables, v.html, v.text, v.extra ${WITH_CONTENT}`
const CREATE = `insert into templates (id, organization_id, alias, name, version, created_at, updated_at, mode, sample, kind, uses)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_VERSION = `insert into template_versions (template_id, version, created_at, subject, variables, html, text, extra)
  values (?, ?, ?, ?, ?, ?, ?, ?)`
const GET = `${WHOLE} where t.id = ?`
const FIND_BY_ALIAS = `${WHOLE} where t.organization_id = ? and t.alias = ? and t.mode = ?`
const CURRENT = 'select id, organization_id as organizationId, version, mode, kind from templates where id = ?'
const CURRENT_BY_ALIAS = `select id, organization_id as organizationId, version, mode, kind from templates
  where organization_id = ? and alias = ? and mode = ?`
const LIST = `select ${HEAD}, v.subject, v.variables ${WITH_CONTENT}
  where t.organization_id = ? and t.id < ? and t.created_at >= ? and t.created_at < ? order by t.id desc limit ?`
const UPDATE =
  'update templates set alias = ?, name = ?, version = ?, updated_at = ?, sample = ?, uses = ? where id = ?'
const VERSION = `select version, created_at as createdAt, subject, variables, html, text, extra from template_versions
  where template_id = ? and version = ?`
const VERSIONS = `select version, created_at as createdAt, subject, variables from template_versions
  where template_id = ? and version < ? order by version desc limit ?`
const COUNT = 'select count(*) from templates where organization_id = ?'
const OLDEST = `select rowid as number, ${STORED_BYTES_OF_TEMPLATE} as bytes
  from template_versions where template_id = ? and version <= ? order by version limit ?`
const REMOVE_VERSION = 'delete from template_versions where rowid = ?'
const USERS = `select id, alias, name from templates
  where organization_id = ? and uses like ? and (mode = 'test' or ? = 'live') order by id limit ?`
const REMOVE = 'delete from templates where id = ?'

/** Versions deleted in one transaction, of a removed template or beyond the plan's limit: some milliseconds, since
 *  the texts of one may have megabytes. */
const REMOVE_MAX = 4

export function sqliteTemplates(
  db: Connection,
  writer: Writer,
  reading: Reading,
  remember: RememberInside,
  { usage, storedBytes }: { usage: Usage; storedBytes: StoredBytes },
): Templates {
  const create = db.prepare(CREATE)
  const addVersion = db.prepare(ADD_VERSION)
  const get = db.prepare<unknown[], TemplateRow>(GET)
  const findByAlias = db.prepare<unknown[], TemplateRow>(FIND_BY_ALIAS)
  const current = db.prepare<unknown[], TemplateRef>(CURRENT)
  const currentByAlias = db.prepare<unknown[], TemplateRef>(CURRENT_BY_ALIAS)
  const list = db.prepare<unknown[], Row<ListedTemplate>>(LIST)
  const update = db.prepare(UPDATE)
  const version = db.prepare<unknown[], ContentRow<TemplateVersion>>(VERSION)
  const versions = db.prepare<unknown[], Row<ListedTemplateVersion>>(VERSIONS)
  const count = db.prepare<unknown[], number>(COUNT).pluck()
  const oldest = db.prepare<unknown[], { number: number; bytes: number }>(OLDEST)
  const removeVersion = db.prepare(REMOVE_VERSION)
  const users = db.prepare<unknown[], TemplateUserRef>(USERS)
  const remove = db.prepare(REMOVE)

  const find = (id: string): Template | null => wholeOrNull(get.get(id))
  const isTaken = (
    { organizationId, mode, id }: Pick<Template, 'organizationId' | 'mode' | 'id'>,
    alias: string | null,
  ) => {
    if (alias === null) return false
    const holder = currentByAlias.get(organizationId, alias, mode)
    return holder !== undefined && holder.id !== id
  }
  const byAlias = (organizationId: string, alias: string, mode: Mode) =>
    currentByAlias.get(organizationId, alias, mode) ??
    (mode === 'test' ? currentByAlias.get(organizationId, alias, 'live') : undefined)
  const keep = (of: { id: string; organizationId: string }, number: number, content: TemplateContent, now: number) => {
    const { subject, variables, html, text } = content
    const extra = packExtra(content)
    const added = addVersion.run(of.id, number, now, subject, JSON.stringify(variables), html, text, extra)
    storedBytes.change('templates', added.lastInsertRowid, of.organizationId, templateStoredBytes(content, extra))
  }
  /** Deletes some of the oldest versions up to one; true while there may be more. */
  const removeSome = (of: { id: string; organizationId: string }, upTo: number): boolean => {
    const versions = oldest.all(of.id, upTo, REMOVE_MAX)
    for (const { number, bytes } of versions) {
      removeVersion.run(number)
      storedBytes.change('templates', number, of.organizationId, -bytes)
    }
    return versions.length === REMOVE_MAX
  }

  return {
    create: (template, record) =>
      writer.write(() => {
        const { id, organizationId, alias, name, version, createdAt, updatedAt, mode } = template
        const sample = JSON.stringify(template.sample)
        if (isTaken(template, alias)) return 'conflict'
        const limit =
          usage.reached(organizationId, 'templates', 1, () => one(count, organizationId)) ??
          storedBytes.reached(organizationId, templateStoredBytes(template, packExtra(template)))
        if (limit !== null) return limit
        const head = [id, organizationId, alias, name, version, createdAt, updatedAt, mode, sample]
        create.run(...head, template.kind, packUses(template))
        keep(template, version, template, createdAt)
        remember(record)
        return 'created'
      }),
    count: async (organizationId) => one(count, organizationId),
    get: async (id) => find(id),
    findByAlias: async (organizationId, alias, mode = 'live') =>
      wholeOrNull(findByAlias.get(organizationId, alias, mode)),
    current: async (organizationId, idOrAlias, mode = 'live') => {
      reading.begin()
      const found = current.get(idOrAlias) ?? byAlias(organizationId, idOrAlias, mode)
      return found ?? null
    },
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, toRecord),
    update: (id, expected, { content, ...change }, now) =>
      writer.write(() => {
        const present = find(id)
        if (present === null) return { kind: 'unknown' as const }
        if (present.version !== expected) return { kind: 'changed' as const }
        const { alias, name, sample } = { ...present, ...change }
        if (isTaken(present, alias)) return { kind: 'conflict' as const }
        const isNew = content !== undefined && !isSameContent(content, present)
        const number = isNew ? present.version + 1 : present.version
        const limit = isNew
          ? storedBytes.reached(present.organizationId, templateStoredBytes(content, packExtra(content)))
          : null
        if (limit !== null) return limit
        const { templateVersions } = usage.planOf(present.organizationId)
        if (isNew) keep(present, number, content, now)
        if (isNew && templateVersions !== UNLIMITED) removeSome(present, number - templateVersions)
        update.run(alias, name, number, now, JSON.stringify(sample), packUses(content ?? present), id)
        return { kind: 'updated' as const, template: toTemplate(one(get, id)) }
      }),
    version: async (id, number) => versionOrNull(version.get(id, number)),
    versions: async (id, { limit, before }) => {
      const rows = versions.all(id, before ?? Number.MAX_SAFE_INTEGER, limit + 1)
      return toPage(rows, { limit, after: null }, toRecord)
    },
    usersOf: async (organizationId, alias, mode) => users.all(organizationId, usesPattern(alias), mode, USERS_SHOWN),
    // An interruption leaves a template with its newest versions, which can be removed again.
    remove: async (id) => {
      let isLeft = true
      while (isLeft) {
        isLeft = await writer.write(() => {
          const present = current.get(id)
          if (present === undefined) return false
          if (removeSome(present, present.version - 1)) return true
          removeSome(present, present.version)
          remove.run(id)
          return false
        })
      }
    },
  }
}

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
