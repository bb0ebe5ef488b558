import { invalid, Refusal } from '../model/refusal.ts'
import type { StandingTemplate, Store } from '../storage/store.ts'
import type { ParsedTemplate, Rendered } from './render.ts'
import type { SubmissionRequest } from './request.ts'
import type { Purse } from './template-work.ts'

/** The organization's templates, ready to be filled in; those used lately are kept understood. */
export interface StoredTemplates {
  /** What a message refers to → the version that stands. Refuses with `validation_error` what is unknown (as a domain
   *  that is unknown is), `forbidden` what another organization has. */
  require(organizationId: string, idOrAlias: string): StandingTemplate
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

/** How much is kept understood: some hundred ordinary templates, or the worst three. */
const KEPT_WEIGHT = 50_000_000

/** Store → its templates. */
export function createStoredTemplates({ store }: { store: Pick<Store, 'templates'> }): StoredTemplates {
  // A Map keeps the order of insertion: the first is the one not used for longest.
  const kept = new Map<string, { parsed: ParsedTemplate; weight: number }>()
  let keptWeight = 0

  const parsedOf = async ({ id, version }: StandingTemplate): Promise<ParsedTemplate> => {
    const key = `${id} ${version}`
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return known.parsed
    }
    const content = await store.templates.version(id, version)
    if (content === null) throw unknownTemplate()
    const { parseTemplateTexts } = await language()
    const parsed = parseTemplateTexts(content)
    if (!kept.has(key)) {
      const weight = weightOf(parsed)
      kept.set(key, { parsed, weight })
      keptWeight += weight
    }
    for (const [oldest, { weight }] of kept) {
      if (keptWeight <= KEPT_WEIGHT) break
      kept.delete(oldest)
      keptWeight -= weight
    }
    return parsed
  }

  return {
    require: (organizationId, idOrAlias) => {
      const found = store.templates.standing(organizationId, idOrAlias)
      if (found === null) throw unknownTemplate()
      if (found.organizationId === organizationId) return found
      throw new Refusal('forbidden', 'this template belongs to another organization', { field: 'template_id' })
    },
    fill: async (template, variables) => {
      const { fillTemplate } = await language()
      return fillTemplate(await parsedOf(template), variables)
    },
    fillIn: async (request, template, variables, purse) => {
      const parsed = await parsedOf(template)
      const isOwn = request.subject !== ''
      if (!isOwn && parsed.subject === null) throw invalid([{ field: 'subject', message: NO_SUBJECT }])
      const { fillTemplate } = await language()
      const { subject, html, text } = fillTemplate(isOwn ? { ...parsed, subject: null } : parsed, variables, purse)
      return { ...request, subject: subject ?? request.subject, html, text, template: { id: template.id } }
    },
  }
}

/** Loaded with the first template: four megabytes that many a house never needs. */
const language = () => import('./render.ts')

function weightOf(parsed: ParsedTemplate): number {
  return Object.values(parsed).reduce((sum, text) => sum + (text?.weight ?? 0), 0)
}

const NO_SUBJECT = 'subject is required, since the template gives none'

function unknownTemplate(): Refusal {
  return invalid([{ field: 'template_id', message: 'template_id names no template' }])
}
