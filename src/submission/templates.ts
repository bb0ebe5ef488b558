import type { Mode } from '../model/message.ts'
import { invalid, Refusal } from '../model/refusal.ts'
import { createWeightedCache } from '../os/weighted-cache.ts'
import type { Store, TemplateRef } from '../storage/store.ts'
import type { Preview } from './preview.ts'
import type { Rendered, TemplateTexts } from './render.ts'
import type { SubmissionRequest } from './request.ts'
import type { WorkBudget } from './template-work.ts'

/** Parses and renders templates for an organization, in a separate thread where available: templates are programs by
 *  tenants. Refuses like render.ts and preview.ts, and with `template_error` for one that takes too long. */
export interface TemplateEngine {
  /** Returns the names of the variables. */
  parse(texts: TemplateTexts, owner: string): Promise<string[]>
  preview(texts: TemplateTexts, variables: Record<string, unknown>, owner: string): Promise<Preview>
  /** `key` identifies the texts; their parsed form is cached under it. */
  fill(
    template: { key: string; texts: TemplateTexts; isSubjectGiven: boolean },
    variables: Record<string, unknown>,
    owner: string,
    workBudget?: WorkBudget,
  ): Promise<Rendered>
}

/** An organization's stored templates, ready to render; recently used texts are cached. */
export interface StoredTemplates {
  /** A template reference → its current version. Test messages may use live templates, but live messages may not use
   *  test templates, which a test key created. Refuses with `validation_error` an unknown or test template, with
   *  `forbidden` one of another organization. */
  require(user: TemplateUser, idOrAlias: string): Promise<TemplateRef>
  /** Renders that version. Refuses with `template_error`. */
  fill(template: TemplateRef, variables: Record<string, unknown>): Promise<Rendered>
  /** Request with a template → the request with its content. A subject in the request replaces the template's, which is
   *  then not rendered; without either, `validation_error`. */
  fillIn(
    request: SubmissionRequest,
    template: TemplateRef,
    variables: Record<string, unknown>,
    workBudget?: WorkBudget,
  ): Promise<SubmissionRequest>
}

/** The user of a template: the sending key. */
export interface TemplateUser {
  organizationId: string
  mode: Mode
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
  const kept = createWeightedCache(KEPT_CHARACTERS, lengthOf)

  const textsOf = async (key: string, { id, version }: TemplateRef): Promise<TemplateTexts> => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const content = await store.templates.version(id, version)
    if (content === null) throw unknownTemplate()
    const { subject, html, text } = content
    const texts = { subject, html, text }
    kept.set(key, texts)
    return texts
  }

  return {
    require: async ({ organizationId, mode }, idOrAlias) => {
      const found = await store.templates.current(organizationId, idOrAlias, mode)
      if (found === null) throw unknownTemplate()
      if (found.organizationId === organizationId) {
        if (found.mode === 'live' || mode === 'test') return found
        throw invalid([
          { field: 'template_id', message: 'template_id is a test template, which only test messages can use' },
        ])
      }
      throw new Refusal('forbidden', 'This template belongs to another organization.', { field: 'template_id' })
    },
    fill: async (template, variables) => {
      const key = `${template.id} ${template.version}`
      const made = { key, texts: await textsOf(key, template), isSubjectGiven: false }
      return templateEngine.fill(made, variables, template.organizationId)
    },
    fillIn: async (request, template, variables, workBudget) => {
      const key = `${template.id} ${template.version}`
      const isSubjectGiven = request.subject !== ''
      const texts = await textsOf(key, template)
      if (!isSubjectGiven && texts.subject === null) throw invalid([{ field: 'subject', message: NO_SUBJECT }])
      const made = { key, texts, isSubjectGiven }
      const { subject, html, text } = await templateEngine.fill(made, variables, template.organizationId, workBudget)
      return { ...request, subject: subject ?? request.subject, html, text, template: { id: template.id } }
    },
  }
}

function lengthOf(texts: TemplateTexts): number {
  return Object.values(texts).reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

const NO_SUBJECT = 'subject is required because the template has none'

function unknownTemplate(): Refusal {
  return invalid([{ field: 'template_id', message: 'template_id does not match any template' }])
}
