import type { Template } from '../client/types.ts'
import { localeOf, type TemplateKind } from '../model/template.ts'
import { isId } from '../os/ids.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { readObject, readText, readVariables } from './given-files.ts'
import { requireOrganization } from './org.ts'
import { print, printJson, sanitize, table } from './print.ts'
import type { OperationName, Results } from './results.ts'

interface Options {
  config: string
  json?: true
  org?: string
}

/** Options with the content of a template. An empty text removes a value. */
interface ContentOptions extends Options {
  name?: string
  alias?: string
  subject?: string
  htmlFile?: string
  mjmlFile?: string
  textFile?: string
  layout?: string
  sample?: string
  /** The texts are for this language. */
  locale?: string
}

/** Prints the templates of an organization, newest first, or "no templates yet". Throws CommandFailure for an
 *  unknown `org`. */
export async function listTemplates(options: Options & { kind?: TemplateKind }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const all = await operator.listAll('templates_list', organizationId)
    const data = all.filter(({ kind }) => options.kind === undefined || kind === options.kind)
    if (options.json) return printJson({ data })
    const rows = data.map((each) => [each.id, each.alias ?? '-', each.kind, `${each.version}`, each.name])
    print(table(['id', 'alias', 'kind', 'version', 'name'], rows) || 'no templates yet')
  })
}

/** Prints a template (id or alias) with its texts; without `version`, the current one. Throws CommandFailure for an
 *  unknown `org`, and Refusal for an unknown template, as all functions below do. */
export async function showTemplate(name: string, options: Options & { version?: number }): Promise<void> {
  const query: Record<string, string> = options.version === undefined ? {} : { version: String(options.version) }
  show(await run('templates_get', name, options, { query }), options)
}

/** Creates a template from files and prints its id. Throws Refusal for an invalid one and for an alias in use. */
export async function createTemplate(options: ContentOptions & { kind: TemplateKind }): Promise<void> {
  const texts = givenTexts(options)
  const { locale, kind } = options
  const body = { ...givenFields(options), kind, ...(locale === undefined ? texts : { locales: { [locale]: texts } }) }
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    showVersion(await operator.run('templates_create', { organizationId, body }), options)
  })
}

/** Changes the given values of a template and prints its version. With `locale`, the texts of that language; a language
 *  in `removeLocale` is removed. Throws Refusal for an invalid change. */
export async function updateTemplate(
  name: string,
  options: ContentOptions & { removeLocale?: string[] },
): Promise<void> {
  const fields = givenFields(options)
  const texts = givenTexts(options)
  const { locale, removeLocale = [] } = options
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizationId = await ownerOf(name, options.org, store)
    const request = { organizationId, params: { template_id: name } }
    const locales: Record<string, object | null> = Object.fromEntries(removeLocale.map((each) => [each, null]))
    if (locale !== undefined) {
      // A language in a request replaces the stored one.
      const present = (await operator.run('templates_get', request)).locales[localeOf(locale) ?? ''] ?? {}
      locales[locale] = mergedTexts(present, texts)
    }
    const body = {
      ...fields,
      ...(locale === undefined && texts),
      ...(Object.keys(locales).length > 0 && { locales }),
    }
    showVersion(await operator.run('templates_update', { ...request, body }), options)
  })
}

/** Prints the versions of a template, newest first. */
export async function listVersions(name: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizationId = await ownerOf(name, options.org, store)
    const data = await operator.listAll('templates_versions', organizationId, { template_id: name })
    if (options.json) return printJson({ data })
    const rows = data.map((each) => [
      String(each.version),
      each.created_at,
      each.variables.join(', ') || '-',
      each.subject ?? '-',
    ])
    print(table(['version', 'created', 'variables', 'subject'], rows))
  })
}

/** Gives a template the texts, languages and layout of an earlier version, as a new version, and prints that. Throws
 *  Refusal for an unknown version. */
export async function restoreVersion(name: string, version: string, options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const organizationId = await ownerOf(name, options.org, store)
    const request = { organizationId, params: { template_id: name } }
    const { locales: present } = await operator.run('templates_get', request)
    const earlier = await operator.run('templates_get', { ...request, query: { version } })
    const removed = Object.keys(present).map((locale) => [locale, null])
    const added = Object.entries(earlier.locales).map(([locale, texts]) => [locale, sourceOf(texts)])
    const locales = Object.fromEntries([...removed, ...added])
    const body = { ...sourceOf(earlier), layout: earlier.layout, locales }
    showVersion(await operator.run('templates_update', { ...request, body }), options)
  })
}

/** Texts as stored → as they are set: HTML that was compiled from MJML is not. */
function sourceOf({ subject, html, mjml, text }: Texts): Texts {
  return { subject, text, ...(mjml == null ? { html } : { mjml }) }
}

/** Deletes a template and all its versions. Throws Refusal for a layout or partial in use. */
export async function deleteTemplate(name: string, options: Options): Promise<void> {
  const answer = await run('templates_delete', name, options)
  if (options.json) printJson(answer)
  else print(`deleted ${name} (${answer.id})`)
}

/** Prints a template filled with variables. Sends nothing. Throws Refusal for a missing variable. */
export async function renderTemplate(
  name: string,
  options: Options & { version?: number; locale?: string; variable?: string[]; variables?: string },
): Promise<void> {
  const { version, locale } = options
  const body = { variables: readVariables(options), locale, version }
  const rendered = await run('templates_render', name, options, { body })
  if (options.json) printJson(rendered)
  else print(textsOf(rendered))
}

interface Texts {
  subject?: string | null | undefined
  html?: string | null | undefined
  mjml?: string | null | undefined
  text?: string | null | undefined
}

/** Options → the texts that they set, by request field. Reads the files. Throws CommandFailure (exit code 2) for an
 *  unreadable file. */
function givenTexts({ subject, htmlFile, mjmlFile, textFile }: ContentOptions): Texts {
  return {
    subject: orNull(subject),
    html: fileText('html-file', htmlFile),
    mjml: fileText('mjml-file', mjmlFile),
    text: fileText('text-file', textFile),
  }
}

/** Options → the other request fields that they set. Throws like givenTexts. */
function givenFields({ name, alias, layout, sample }: ContentOptions) {
  return {
    name,
    alias: orNull(alias),
    layout: orNull(layout),
    sample: sample === undefined ? undefined : readObject('sample', sample),
  }
}

/** Stored texts and changes → the texts to store. HTML and MJML replace each other. */
function mergedTexts({ subject, html, mjml, text }: Texts, given: Texts): Texts {
  const source = given.html === undefined && given.mjml === undefined ? (mjml == null ? { html } : { mjml }) : {}
  const changes = Object.entries(given).filter(([, value]) => value !== undefined)
  return { subject, text, ...source, ...Object.fromEntries(changes) }
}

function fileText(option: string, file: string | undefined): string | null | undefined {
  return file ? readText(option, file) : orNull(file)
}

function orNull(given: string | undefined): string | null | undefined {
  return given === '' ? null : given
}

function run<Id extends OperationName>(
  operation: Id,
  name: string,
  { config, org }: Options,
  request: { query?: Record<string, string>; body?: object } = {},
): Promise<Results[Id]> {
  return withCliContext(config, async ({ store, operator }) => {
    const organizationId = await ownerOf(name, org, store)
    return operator.run(operation, { organizationId, params: { template_id: name }, ...request })
  })
}

/** Organization of a template: the one with this id, or the only one. */
async function ownerOf(name: string, org: string | undefined, store: Store): Promise<string> {
  const found = org === undefined && isId('tpl', name) ? await store.templates.get(name) : null
  return found?.organizationId ?? (await requireOrganization(org, store)).id
}

function showVersion(template: Template, { json }: Options): void {
  const { id, alias, version, name } = template
  if (json) printJson(template)
  else print(`${sanitize(alias ?? name)} is at version ${version} (${id})`)
}

function show(template: Template, { json }: Options): void {
  if (json) printJson(template)
  else print(described(template))
}

function described(template: Template): string {
  const { id, alias, name, kind, layout, locales, variables, version, updated_at } = template
  const rows = [
    ['id', id],
    ['alias', alias ?? '-'],
    ['kind', kind],
    ['version', String(version)],
    ['layout', layout ?? '-'],
    ['languages', Object.keys(locales).join(', ') || '-'],
    ['variables', variables.join(', ') || '-'],
    ['updated', updated_at],
  ]
  const facts = rows.map(([head = '', value = '']) => `  ${head.padEnd(9)}  ${sanitize(value)}`)
  const texts = textsOf(sourceOf(template))
  return `${[sanitize(name), ...facts].join('\n')}\n\n${texts}`
}

/** Texts → each under its name. */
function textsOf({ subject, html, mjml, text }: Texts): string {
  const blocks = [
    ['Text', text],
    ['HTML', html],
    ['MJML', mjml],
  ].flatMap(([head, body]) => (body == null ? [] : [`${head}:\n${body.trimEnd()}`]))
  return [...(subject == null ? [] : [`Subject: ${sanitize(subject)}`]), ...blocks].join('\n\n')
}
