import type { Mode } from '../../model/message.ts'
import { Refusal } from '../../model/refusal.ts'
import { type TemplateContent, type TemplateTexts, variantFor } from '../../model/template.ts'
import type { TemplateRef } from '../../storage/store.ts'

/** Texts whose parsed form is cached under the key. */
export interface KeyedTexts {
  key: string
  texts: TemplateTexts
}

/** The layout and the partials of a template in one language, with the partials that these render. */
export interface PartTexts {
  layout: KeyedTexts | null
  partials: [alias: string, partial: KeyedTexts][]
}

/** The user of a template: the sending key. */
export interface TemplateUser {
  organizationId: string
  mode: Mode
}

/** Reads stored templates. */
export interface PartSource {
  current(organizationId: string, alias: string, mode: Mode): Promise<TemplateRef | null>
  content(ref: TemplateRef): Promise<TemplateContent | null>
}

/** Content and wanted locale → its parts as they are now; null if it has none. The parts are templates of the same
 *  organization: for a test message also test ones, which come first. Refuses with `template_error` (`details.alias`)
 *  a part that does not exist or has another kind, and too many. `self` is the ID of a template that is about to be
 *  saved, and must not be among its own parts. */
export async function loadParts(
  { layout, uses }: Pick<TemplateContent, 'layout' | 'uses'>,
  { user, locale, self }: { user: TemplateUser; locale: string | null; self?: string | undefined },
  source: PartSource,
): Promise<PartTexts | null> {
  if (layout === null && uses.length === 0) return null
  const load = async (alias: string, kind: 'layout' | 'partial') => {
    const ref = await source.current(user.organizationId, alias, user.mode)
    const isRight = ref !== null && ref.organizationId === user.organizationId && ref.kind === kind
    const content = isRight ? await source.content(ref) : null
    if (ref === null || content === null) throw partRefusal(`there is no ${kind} with the alias ${alias}`, alias)
    if (ref.id === self) throw partRefusal(`the ${kind} ${alias} would contain itself`, alias)
    return { keyed: keyedTexts(ref, content, locale), uses: content.uses }
  }

  const frame = layout === null ? null : await load(layout, 'layout')
  const partials = new Map<string, KeyedTexts>()
  const open = new Set([...uses, ...(frame?.uses ?? [])])
  // A Set's loop also visits what is added during it, each once.
  for (const alias of open) {
    if (partials.size === MAX_PARTIALS) throw partRefusal(`it renders more than ${MAX_PARTIALS} partials`, alias)
    const partial = await load(alias, 'partial')
    partials.set(alias, partial.keyed)
    for (const inner of partial.uses) open.add(inner)
  }
  return { layout: frame?.keyed ?? null, partials: [...partials] }
}

/** Template version and wanted locale → its texts in that language. */
export function keyedTexts(
  { id, version }: Pick<TemplateRef, 'id' | 'version'>,
  content: TemplateContent,
  wanted: string | null,
): KeyedTexts {
  const { locale, variant } = variantFor(content, wanted)
  const { subject, html, text } = variant
  return { key: locale === null ? `${id} ${version}` : `${id} ${version} ${locale}`, texts: { subject, html, text } }
}

/** Different partials in one message: each is a lookup. */
const MAX_PARTIALS = 20

/** Begins the message of these refusals. */
export const NOT_RENDERED = 'The template could not be rendered: '

function partRefusal(fault: string, alias: string): Refusal {
  return new Refusal('template_error', NOT_RENDERED + fault, { details: { alias } })
}
