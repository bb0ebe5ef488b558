import { z } from 'zod'
import { iso } from '../../../model/event.ts'
import { withinLimit } from '../../../model/limits.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { aliasFault, TEMPLATE_KINDS, type Template } from '../../../model/template.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import { isId, type MintId } from '../../../os/ids.ts'
import { keyedTexts, loadParts } from '../../../sending/submission/template-parts.ts'
import type { TemplateEngine } from '../../../sending/submission/templates.ts'
import type { ListedTemplate, ListedTemplateVersion, Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageRequest, pageResponse, recordsRequest } from '../page.ts'
import { ALIAS } from '../patterns.ts'
import { deleted } from '../rendered-response.ts'
import { characters, label, pageFields, recordsQuery } from '../schema.ts'
import { filteredPage, isWithin, modeOfRecords, requireWithin, scopeOf } from '../scope.ts'
import { createTemplateContents } from './template-content.ts'
import { templateLocale, templateSample, templateVariables } from './template-fields.ts'
import { changedLocales, changedTexts, locales, requireOneSource, texts, wholeTexts } from './template-texts.ts'

/** The operations of `/v1/templates`: reusable messages with variables. A path contains an ID or alias. Lists omit
 *  `html`, `text` and `sample`. */
export function templateOperations(deps: {
  store: Pick<Store, 'templates'>
  mintId: MintId
  templateEngine: TemplateEngine
}): Operation[] {
  const { store, mintId, templateEngine } = deps
  const load = async (call: Call): Promise<Template> => {
    const { organizationId, key } = call
    const name = pathParameter(call, 'template_id')
    const found = isId('tpl', name)
      ? await store.templates.get(name)
      : await store.templates.findByAlias(organizationId, name, modeOfRecords(key))
    return requireWithin(found, scopeOf(key), 'template')
  }

  /** Template and version number → the template with the content of that version; null if it does not exist. Without a
   *  number, the current version. */
  const atVersion = async (template: Template, number: number | undefined): Promise<Template | null> => {
    if (number === undefined || number === template.version) return template
    const version = await store.templates.version(template.id, number)
    return version === null ? null : { ...template, ...version, createdAt: template.createdAt }
  }

  const contents = createTemplateContents(deps)
  const source = {
    current: store.templates.current,
    content: ({ id, version }: { id: string; version: number }) => store.templates.version(id, version),
  }

  /** A part in use keeps its alias: without it, the mail of its users would fail. */
  const requireUnused = async ({ organizationId, mode, alias, kind }: Template): Promise<void> => {
    if (alias === null || kind === 'message') return
    const users = await store.templates.usersOf(organizationId, alias, mode)
    if (users.length === 0) return
    const names = users.map((user) => user.alias ?? user.id)
    throw new Refusal('conflict', `These templates use the ${kind} ${alias}: ${names.join(', ')}. Change them first.`, {
      details: { reason: 'template_in_use', used_by: users },
    })
  }

  /** Template ID → its last pending change. The changes of a template run one after another. In parallel, each would
   *  have to parse its texts again after every other change. */
  const changing = new Map<string, Promise<unknown>>()
  const change = async (id: string, body: z.infer<typeof updateBody>, now: number): Promise<Template> => {
    const before = changing.get(id) ?? Promise.resolve()
    const mine = before.then(
      () => changeNow(id, body, now),
      () => changeNow(id, body, now),
    )
    changing.set(id, mine)
    try {
      return await mine
    } finally {
      if (changing.get(id) === mine) changing.delete(id)
    }
  }

  /** Merges the change into the current content. Starts again if another process changed the template meanwhile. */
  const changeNow = async (
    id: string,
    { alias, name, sample, locales, ...texts }: z.infer<typeof updateBody>,
    now: number,
  ) => {
    for (;;) {
      const present = await store.templates.get(id)
      if (present === null) throw new Refusal('not_found', 'No such template. Check the ID or alias.')
      if (alias !== undefined && alias !== present.alias) await requireUnused(present)
      const { layout } = present
      const wanted = {
        ...changedTexts(present, texts),
        layout: texts.layout === undefined ? layout : texts.layout,
        locales: changedLocales(present.locales, locales),
      }
      const content = await contents.contentOf(wanted, present)
      const changed = store.templates.update(id, present.version, { ...given({ alias, name, sample }), content }, now)
      const result = withinLimit(await changed, now)
      if (result.kind === 'updated') return result.template
      if (result.kind === 'conflict') throw aliasTaken(alias)
    }
  }

  return [
    operation({
      id: 'templates_create',
      method: 'POST',
      path: '/v1/templates',
      tag: 'Templates',
      access: rule('manage', 'developer', 'test_records', 'organization'),
      summary: 'Create a template',
      description:
        'Templates use Liquid; output in html is escaped. A syntax error returns 400 with line and column. A variable that is missing when a message is sent returns 422 `template_error`, unless it has a default: `{{ name | default: "friend" }}`.',
      responses: async () => (await import('../responses/templates.ts')).templateCreatedResponses,
      refusals: ['quota_exceeded', 'template_error'],
      example: {
        name: 'Welcome',
        alias: 'welcome',
        subject: 'Hello {{ name }}',
        html: '<p>Hello {{ name }}</p>',
        sample: { name: 'Ann' },
      },
      body: createBody,
      idempotent: true,
      async handle({ key, organizationId, now, body, remember }) {
        const { layout = null, kind } = body
        const wanted = { ...wholeTexts(body), layout, locales: changedLocales({}, body.locales) }
        const owned = { id: mintId('tpl'), organizationId, mode: modeOfRecords(key), kind }
        const template: Template = {
          ...owned,
          alias: body.alias ?? null,
          name: body.name,
          sample: body.sample ?? {},
          ...(await contents.contentOf(wanted, owned)),
          version: 1,
          createdAt: now,
          updatedAt: now,
        }
        const answer = { status: 201, body: toWire(template) }
        const result = withinLimit(await store.templates.create(template, remember(answer)), now)
        if (result === 'conflict') throw aliasTaken(template.alias)
        return answer
      },
    }),
    operation({
      id: 'templates_list',
      method: 'GET',
      path: '/v1/templates',
      tag: 'Templates',
      access: rule('manage', 'viewer', 'test_records', 'organization'),
      tool: {
        name: 'list_templates',
        description: 'Lists the templates, newest first.',
      },
      summary: 'List templates',
      description: 'Omits `html`, `text` and `sample`.',
      responses: async () => (await import('../responses/templates.ts')).templateListResponses,
      query: listQuery,
      async handle({ key, organizationId, query }) {
        const scope = scopeOf(key)
        const page = recordsRequest(query)
        const list = (asked: typeof page) => store.templates.list(organizationId, asked)
        const isWanted = (each: ListedTemplate) =>
          isWithin(scope, each) &&
          (query.kind === undefined || each.kind === query.kind) &&
          (query.q === undefined || says(each, query.q))
        const isWhole = scope.mode === null && query.kind === undefined && query.q === undefined
        return pageResponse(await (isWhole ? list(page) : filteredPage(list, page, isWanted)), toListed)
      },
    }),
    operation({
      id: 'templates_get',
      method: 'GET',
      path: '/v1/templates/:template_id',
      tag: 'Templates',
      access: rule('manage', 'viewer', 'test_records', 'organization'),
      tool: {
        name: 'get_template',
        description: 'Returns one template with its source and its variables.',
      },
      summary: 'Retrieve a template',
      description: 'By ID or alias; optionally an earlier version.',
      responses: async () => (await import('../responses/templates.ts')).templateResponses,
      query: z.strictObject({
        version: z
          .string()
          .regex(/^[1-9]\d{0,8}$/, 'must be a whole number of at least 1')
          .transform(Number)
          .optional(),
      }),
      load,
      async handle({ resource, query }) {
        const template = await atVersion(resource, query.version)
        if (template === null) throw new Refusal('not_found', 'This template has no such version.')
        return { status: 200, body: toWire(template) }
      },
    }),
    operation({
      id: 'templates_update',
      method: 'PATCH',
      path: '/v1/templates/:template_id',
      tag: 'Templates',
      access: rule('manage', 'developer', 'test_records', 'organization'),
      summary: 'Update a template',
      description:
        'Changed content becomes a new version, which applies to all messages sent afterwards. Only the fields you send change. Concurrent edits to different fields merge; for the same field the last write wins. Previous content remains as versions.',
      responses: async () => (await import('../responses/templates.ts')).templateResponses,
      refusals: ['conflict', 'quota_exceeded', 'template_error'],
      example: { subject: 'Welcome, {{ name }}' },
      body: updateBody,
      load,
      handle: async ({ resource, body, now }) => ({
        status: 200,
        body: toWire(Object.keys(given(body)).length === 0 ? resource : await change(resource.id, body, now)),
      }),
    }),
    operation({
      id: 'templates_delete',
      method: 'DELETE',
      path: '/v1/templates/:template_id',
      tag: 'Templates',
      access: rule('manage', 'developer', 'test_records', 'organization'),
      summary: 'Delete a template',
      description:
        'Deletes all its versions. Messages already created from it remain. A layout or partial that other templates use returns 409 with `used_by`.',
      responses: async () => (await import('../responses/templates.ts')).templateDeletedResponses,
      load,
      refusals: ['conflict'],
      async handle({ resource }) {
        await requireUnused(resource)
        await store.templates.remove(resource.id)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'templates_render',
      method: 'POST',
      path: '/v1/templates/:template_id/render',
      tag: 'Templates',
      access: rule('manage', 'viewer', 'test_records', 'organization'),
      tool: {
        name: 'render_template',
        description: 'Renders a template with variables and returns subject, html and text. Sends nothing.',
      },
      takesNoTurn: true,
      unaudited: 'looks',
      summary: 'Render a template',
      description: 'Renders it with your variables. Nothing is sent.',
      responses: async () => (await import('../responses/templates.ts')).templateRenderedResponses,
      refusals: ['template_error'],
      example: { variables: { name: 'Ann' } },
      body: renderBody,
      bodyOptional: true,
      load,
      async handle({ resource, body, key }) {
        const template = await atVersion(resource, body.version)
        if (template === null)
          throw invalid([{ field: 'version', message: 'version does not exist for this template' }])
        const { locale = null, variables } = body
        const user = { organizationId: resource.organizationId, mode: modeOfRecords(key) }
        const parts = await loadParts(template, { user, locale }, source)
        const made = { ...keyedTexts(template, template, locale), isSubjectGiven: false, parts }
        return { status: 200, body: await templateEngine.fill(made, variables, template.organizationId) }
      },
    }),
    operation({
      id: 'templates_preview',
      method: 'POST',
      path: '/v1/templates/preview',
      tag: 'Templates',
      access: rule('manage', 'viewer', 'no_records', 'organization'),
      takesNoTurn: true,
      unaudited: 'looks',
      summary: 'Preview unsaved template content',
      description:
        'Nothing is stored or sent. Variables without a value or a default appear as `[its.name]` and are listed in `missing`; sending would reject them.',
      responses: async () => (await import('../responses/templates.ts')).templatePreviewResponses,
      refusals: ['template_error'],
      example: { subject: 'Hello {{ name }}', html: '<p>Hello {{ name }}</p>', variables: { name: 'Ann' } },
      body: previewBody,
      async handle({ organizationId, key, body: { variables, layout = null, locale = null, ...body } }) {
        const texts = await contents.compiled(wholeTexts(body), { layout, organizationId })
        const user = { organizationId, mode: modeOfRecords(key) }
        const parts = await contents.partsOf(texts, { layout, locale, user })
        return { status: 200, body: await templateEngine.preview(texts, variables, parts, organizationId) }
      },
    }),
    operation({
      id: 'templates_versions',
      method: 'GET',
      path: '/v1/templates/:template_id/versions',
      tag: 'Templates',
      access: rule('manage', 'viewer', 'test_records', 'organization'),
      summary: 'List the versions of a template',
      description: 'Omits `html` and `text`.',
      responses: async () => (await import('../responses/templates.ts')).templateVersionsResponses,
      query: z.strictObject(pageFields),
      load,
      async handle({ resource, query }) {
        const { limit, after } = pageRequest(query)
        const before = after === null ? null : versionOf(after)
        const { records, hasMore } = await store.templates.versions(resource.id, { limit, before })
        const numbered = records.map((version) => ({ ...version, id: cursorOf(version.version) }))
        return pageResponse({ records: numbered, hasMore }, toListedVersion)
      },
    }),
  ]
}

const alias = z
  .string()
  .superRefine((text, context) => {
    const fault = aliasFault(text)
    if (fault !== null) context.addIssue({ code: 'custom', message: fault })
  })
  .meta(ALIAS)
const sample = templateSample
  .optional()
  .describe('Values of variables for previews in the dashboard, at most 16 KiB of JSON. Messages never use them.')
const layout = alias.nullish().describe('Alias of the layout around `html` and `text`.')
const kind = z
  .enum(TEMPLATE_KINDS)
  .default('message')
  .describe('`layout`: html and text around others, with `{{ content }}` once. `partial`: for `{% render "alias" %}`.')
const listQuery = recordsQuery.extend({
  kind: z.enum(TEMPLATE_KINDS).optional(),
  q: characters(100).optional().describe('Part of the name, the alias or the subject, in any letter case.'),
})

/** Whether a text is part of what a list shows of a template. */
function says({ name, alias, subject }: ListedTemplate, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  return [name, alias, subject].some((each) => each?.toLowerCase().includes(wanted))
}

const fields = { alias: alias.nullish(), ...texts, layout, locales }
const createBody = z.strictObject({ name: label(100), kind, ...fields, sample }).superRefine(requireOneSource)
const updateBody = z.strictObject({ name: label(100).optional(), ...fields, sample }).superRefine(requireOneSource)
const variables = templateVariables.default({})
const locale = templateLocale.nullish().describe('Wanted language; without it, the default.')
const renderBody = z.strictObject({ variables, version: z.int().min(1).optional(), locale })
const previewBody = z.strictObject({ ...texts, layout, locale, variables }).superRefine(requireOneSource)

/** Version number → the ID-like text for cursors, which are based on IDs (page.ts); versionOf is the inverse. */
const CURSOR_PREFIX = 'tpl_'
function cursorOf(version: number): string {
  return CURSOR_PREFIX + String(version).padStart(26, '0')
}
function versionOf(cursor: string): number {
  const version = Number(cursor.slice(CURSOR_PREFIX.length))
  if (cursor.startsWith(CURSOR_PREFIX) && Number.isSafeInteger(version)) return version
  throw invalid([
    { field: 'cursor', message: 'cursor is invalid for this list. Use next_cursor of the previous page.' },
  ])
}

/** PATCH body → only the fields that are present. Null is kept: it removes the value. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function aliasTaken(alias: string | null | undefined): Refusal {
  return new Refusal('conflict', `Another template already has the alias ${alias}.`, { field: 'alias' })
}

function toWire(template: Template) {
  const { id, alias, name, mode, kind, subject, html, mjml, text, layout, locales } = template
  const { variables, sample, version } = template
  const own = { id, alias, name, mode, kind, subject, html, mjml, text, layout, locales }
  return { ...own, variables, sample, version, ...times(template) }
}

function toListed(template: ListedTemplate) {
  const { id, alias, name, mode, kind, subject, variables, version } = template
  return { id, alias, name, mode, kind, subject, variables, version, ...times(template) }
}

function times({ createdAt, updatedAt }: ListedTemplate) {
  return { created_at: iso(createdAt), updated_at: iso(updatedAt) }
}

function toListedVersion({ version, subject, variables, createdAt }: ListedTemplateVersion) {
  return { version, subject, variables, created_at: iso(createdAt) }
}
