import type { Mode } from '../model/message.ts'
import { invalid, Refusal } from '../model/refusal.ts'
import type { StandingTemplate, Store } from '../storage/store.ts'
import type { Preview } from './preview.ts'
import type { Rendered, TemplateTexts } from './render.ts'
import type { SubmissionRequest } from './request.ts'
import type { Purse } from './template-work.ts'

/** Understands templates and fills them in, for an organization, in a thread of its own where there is one: templates are
 *  programs of tenants. Refuses as render.ts and preview.ts do, and with `template_error` what takes too long. */
export interface TemplateEngine {
  /** → the names of the variables. */
  parse(texts: TemplateTexts, owner: string): Promise<string[]>
  preview(texts: TemplateTexts, variables: Record<string, unknown>, owner: string): Promise<Preview>
  /** `key` names the texts: what was understood of them is kept under it. */
  fill(
    template: { key: string; texts: TemplateTexts; isSubjectGiven: boolean },
    variables: Record<string, unknown>,
    owner: string,
    purse?: Purse,
  ): Promise<Rendered>
}

/** The organization's templates, ready to be filled in; the texts of those used lately are kept. */
export interface StoredTemplates {
  /** What a message refers to → the version that stands. Test messages may use live templates, but live messages no test
   *  template: a test key made it. Refuses with `validation_error` what is unknown (as a domain that is unknown is) or a
   *  test template, `forbidden` what another organization has. */
  require(user: TemplateUser, idOrAlias: string): StandingTemplate
  /** Fills that version. Refuses with `template_error`. */
  fill(template: StandingTemplate, variables: Record<string, unknown>): Promise<Rendered>
  /** Request without content → the same with it. A subject of the request's own stays as it is, and the template's is not
   *  looked at; when neither has one, `validation_error`. */
  fillIn(
    request: SubmissionRequest,
    template: StandingTemplate,
    variables: Record<string, unknown>,
    purse?: Purse,
  ): Promise<SubmissionRequest>
}

/** Who uses a template: the key that sends. */
export interface TemplateUser {
  organizationId: string
  mode: Mode
}

/** Characters of templates that are kept: some thousand ordinary ones. */
const KEPT_CHARACTERS = 10_000_000

/** Store → its templates. */
export function createStoredTemplates({
  store,
  templateEngine,
}: {
  store: Pick<Store, 'templates'>
  templateEngine: Pick<TemplateEngine, 'fill'>
}): StoredTemplates {
  // A Map keeps the order of insertion: the first is the one not used for longest.
  const kept = new Map<string, TemplateTexts>()
  let keptCharacters = 0

  const textsOf = async (key: string, { id, version }: StandingTemplate): Promise<TemplateTexts> => {
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    const content = await store.templates.version(id, version)
    if (content === null) throw unknownTemplate()
    const { subject, html, text } = content
    const texts = { subject, html, text }
    if (!kept.has(key)) {
      kept.set(key, texts)
      keptCharacters += lengthOf(texts)
    }
    for (const [oldest, texts] of kept) {
      if (keptCharacters <= KEPT_CHARACTERS) break
      kept.delete(oldest)
      keptCharacters -= lengthOf(texts)
    }
    return texts
  }

  return {
    require: ({ organizationId, mode }, idOrAlias) => {
      const found = store.templates.standing(organizationId, idOrAlias, mode)
      if (found === null) throw unknownTemplate()
      if (found.organizationId === organizationId) {
        if (found.mode === 'live' || mode === 'test') return found
        throw invalid([
          { field: 'template_id', message: 'template_id names a test template, which only test messages use' },
        ])
      }
      throw new Refusal('forbidden', 'this template belongs to another organization', { field: 'template_id' })
    },
    fill: async (template, variables) => {
      const key = `${template.id} ${template.version}`
      const made = { key, texts: await textsOf(key, template), isSubjectGiven: false }
      return templateEngine.fill(made, variables, template.organizationId)
    },
    fillIn: async (request, template, variables, purse) => {
      const key = `${template.id} ${template.version}`
      const isSubjectGiven = request.subject !== ''
      const texts = await textsOf(key, template)
      if (!isSubjectGiven && texts.subject === null) throw invalid([{ field: 'subject', message: NO_SUBJECT }])
      const made = { key, texts, isSubjectGiven }
      const { subject, html, text } = await templateEngine.fill(made, variables, template.organizationId, purse)
      return { ...request, subject: subject ?? request.subject, html, text, template: { id: template.id } }
    },
  }
}

function lengthOf(texts: TemplateTexts): number {
  return Object.values(texts).reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

const NO_SUBJECT = 'subject is required, since the template gives none'

function unknownTemplate(): Refusal {
  return invalid([{ field: 'template_id', message: 'template_id names no template' }])
}
