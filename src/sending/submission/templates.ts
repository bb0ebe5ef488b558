import { invalid, Refusal } from '../../model/refusal.ts'
import type { SourceTexts, TemplateContent, TemplateKind } from '../../model/template.ts'
import { createWeightedCache } from '../../os/weighted-cache.ts'
import type { Store, TemplateRef } from '../../storage/store.ts'
import type { Preview } from './preview.ts'
import type { Rendered, TemplateTexts } from './render.ts'
import type { SubmissionRequest, TemplateUse } from './request.ts'
import { type KeyedTexts, keyedTexts, loadParts, type PartTexts, type TemplateUser } from './template-parts.ts'
import type { WorkBudget } from './template-work.ts'

export type { TemplateUser } from './template-parts.ts'

/** Parses and renders templates for an organization, in a separate thread where available: templates are programs by
 *  tenants. Refuses like render.ts and preview.ts, and with `template_error` for one that takes too long. */
export interface TemplateEngine {
  parse(texts: TemplateTexts, as: ParseContext, owner: string): Promise<ParsedFacts>
  /** MJML with Liquid → html with the same Liquid. Rejects with `validation_error` for faults, of which `details` has the
   *  line; their field is `at` and `mjml`. */
  compile(mjml: string, at: string, owner: string): Promise<string>
  preview(
    texts: TemplateTexts,
    variables: Record<string, unknown>,
    parts: PartTexts | null,
    owner: string,
  ): Promise<Preview>
  /** `key` identifies the texts; their parsed form is cached under it. */
  fill(
    template: KeyedTexts & { isSubjectGiven: boolean; parts: PartTexts | null },
    variables: Record<string, unknown>,
    owner: string,
    workBudget?: WorkBudget,
  ): Promise<Rendered>
}

export interface ParseContext {
  kind: TemplateKind
  /** Precedes the names of fields in faults: `locales.de.`. */
  at: string
  parts: PartTexts | null
}

export interface ParsedFacts {
  /** Names of the variables of the texts and their parts. */
  variables: string[]
  /** Aliases of the partials that the texts render themselves. */
  uses: string[]
}

/** An organization's stored templates, ready to render; recently used texts are cached. */
export interface StoredTemplates {
  /** A template reference → its current version. Test messages may use live templates, but live messages may not use
   *  test templates, which a test key created. Refuses with `validation_error` an unknown or test template, a layout
   *  and a partial, with `forbidden` one of another organization. */
  require(user: TemplateUser, idOrAlias: string): Promise<TemplateRef>
  /** Renders that version with its current parts. Refuses with `template_error`. */
  fill(template: TemplateRef, user: TemplateUser, use: Omit<TemplateUse, 'idOrAlias'>): Promise<Rendered>
  /** Request with a template → the request with its content. A subject in the request replaces the template's, which is
   *  then not rendered; without either, `validation_error`. */
  fillIn(
    request: SubmissionRequest,
    template: TemplateRef,
    user: TemplateUser,
    use: Omit<TemplateUse, 'idOrAlias'>,
    workBudget?: WorkBudget,
  ): Promise<SubmissionRequest>
}

/** Characters of cached templates: some thousand ordinary ones. */
const KEPT_CHARACTERS = 10_000_000

/** Store → its templates. */
export function createStoredTemplates({
  store,
  templateEngine,
}: {
  store: Pick<Store, 'templates'>
  templateEngine: Pick<TemplateEngine, 'fill'>
}): StoredTemplates {
  const kept = createWeightedCache<TemplateContent>(KEPT_CHARACTERS, charactersOf)

  const contentOf = async ({ id, version }: TemplateRef): Promise<TemplateContent | null> => {
    const key = `${id} ${version}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const content = await store.templates.version(id, version)
    if (content !== null) kept.set(key, content)
    return content
  }
  const source = { current: store.templates.current, content: contentOf }
  const load = async (template: TemplateRef, user: TemplateUser, locale: string | null) => {
    const content = await contentOf(template)
    if (content === null) throw unknownTemplate()
    return { ...keyedTexts(template, content, locale), parts: await loadParts(content, { user, locale }, source) }
  }

  return {
    require: async ({ organizationId, mode }, idOrAlias) => {
      const found = await store.templates.current(organizationId, idOrAlias, mode)
      if (found === null) throw unknownTemplate()
      if (found.organizationId !== organizationId) {
        throw new Refusal('forbidden', 'This template belongs to another organization.', { field: 'template_id' })
      }
      if (found.mode !== 'live' && mode !== 'test') {
        throw unusable('template_id is a test template, which only test messages can use')
      }
      if (found.kind !== 'message') {
        throw unusable(`template_id is a ${found.kind}, which only templates can use`)
      }
      return found
    },
    fill: async (template, user, { variables, locale }) => {
      const made = { ...(await load(template, user, locale)), isSubjectGiven: false }
      return templateEngine.fill(made, variables, template.organizationId)
    },
    fillIn: async (request, template, user, { variables, locale }, workBudget) => {
      const isSubjectGiven = request.subject !== ''
      const loaded = await load(template, user, locale)
      if (!isSubjectGiven && loaded.texts.subject === null) {
        throw invalid([{ field: 'subject', message: NO_SUBJECT }])
      }
      const made = { ...loaded, isSubjectGiven }
      const { subject, html, text } = await templateEngine.fill(made, variables, template.organizationId, workBudget)
      return { ...request, subject: subject ?? request.subject, html, text, template: { id: template.id } }
    },
  }
}

function charactersOf({ locales, ...main }: TemplateContent): number {
  return [main, ...Object.values(locales)].reduce((sum, each) => sum + lengthOf(each), 0)
}

/** Characters of all texts together. */
export function lengthOf({ subject, html, mjml, text }: SourceTexts): number {
  return (subject?.length ?? 0) + (html?.length ?? 0) + (mjml?.length ?? 0) + (text?.length ?? 0)
}

const NO_SUBJECT = 'subject is required because the template has none'

function unknownTemplate(): Refusal {
  return invalid([{ field: 'template_id', message: 'template_id does not match any template' }])
}

function unusable(message: string): Refusal {
  return invalid([{ field: 'template_id', message }])
}
