import type { Template } from '../client/types.ts'
import { localeOf, type TemplateKind } from '../model/template.ts'
import { sourceOf, type Texts } from './commands/template.ts'
import { readObject, readText } from './given-files.ts'
import { withOperations } from './operation-context.ts'
import { organization, template as templatePlace } from './places.ts'
import { print, printJson, sanitize } from './print.ts'
import type { Server } from './server-access.ts'

interface Options {
  config: string
  json?: true
  org?: string
  server?: Server | null
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

/** Creates a template from files and prints its id. Throws Refusal for an invalid one and for an alias in use. */
export async function createTemplate(options: ContentOptions & { kind: TemplateKind }): Promise<void> {
  const texts = givenTexts(options)
  const { locale, kind } = options
  const body = { ...givenFields(options), kind, ...(locale === undefined ? texts : { locales: { [locale]: texts } }) }
  await withOperations(options, async ({ store, operator }) => {
    const place = await organization({ operands: [], options }, { store })
    showVersion(await operator.run('templates_create', { ...place, body }), options)
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
  await withOperations(options, async ({ store, operator }) => {
    const request = await templatePlace({ operands: [name], options }, { store })
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

/** Gives a template the texts, languages and layout of an earlier version, as a new version, and prints that. Throws
 *  Refusal for an unknown version. */
export async function restoreVersion(name: string, version: string, options: Options): Promise<void> {
  await withOperations(options, async ({ store, operator }) => {
    const request = await templatePlace({ operands: [name], options }, { store })
    const { locales: present } = await operator.run('templates_get', request)
    const earlier = await operator.run('templates_get', { ...request, query: { version } })
    const removed = Object.keys(present).map((locale) => [locale, null])
    const added = Object.entries(earlier.locales).map(([locale, texts]) => [locale, sourceOf(texts)])
    const locales = Object.fromEntries([...removed, ...added])
    const body = { ...sourceOf(earlier), layout: earlier.layout, locales }
    showVersion(await operator.run('templates_update', { ...request, body }), options)
  })
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

function showVersion(template: Template, { json }: Options): void {
  const { id, alias, version, name } = template
  if (json) printJson(template)
  else print(`${sanitize(alias ?? name)} is at version ${version} (${id})`)
}
