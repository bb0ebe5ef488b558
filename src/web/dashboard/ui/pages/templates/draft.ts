import type { Json } from '../../kit/api.ts'
import { readSample, sampleText } from './sample.ts'
import { type Texts, textsGiven } from './use-preview.ts'

/** What the user types in the template editor, and its copy in the browser tab. */

export interface Draft extends Texts {
  name: string
  alias: string
  /** Alias of the layout; '' for none. */
  layout: string
  /** Texts in other languages, by locale. */
  locales: Record<string, Texts>
  /** Text of a JSON object. */
  sample: string
}

/** Template of the API → the texts of its fields; empty fields for null. */
export function draftOf(template: Json | null): Draft {
  const { name, alias, layout, sample } = template ?? {}
  return {
    name: name ?? '',
    alias: alias ?? '',
    ...contentOf(template ?? {}),
    layout: layout ?? '',
    sample: sampleText(sample ?? {}),
  }
}

/** Template or version of the API → its texts in all languages and its layout, as a draft has them. */
export function contentOf({ layout, locales = {}, ...main }: Json): Pick<Draft, keyof Texts | 'layout' | 'locales'> {
  const others = Object.entries<Json>(locales).map(([locale, texts]) => [locale, textsOf(texts)] as const)
  return { ...textsOf(main), layout: layout ?? '', locales: Object.fromEntries(others) }
}

/** Texts of the API → those of the body that its author wrote. */
const textsOf = ({ subject, html, mjml, text }: Json): Texts => ({
  subject: subject ?? '',
  html: html ?? '',
  mjml: mjml ?? '',
  source: mjml == null ? 'html' : 'mjml',
  text: text ?? '',
})

/** Draft → the fields of an API request that differ from `saved`; all fields for a new template. Locales are those that
 *  differ, null for a removed one. A sample that is not valid JSON counts as different and stays text, which the API
 *  refuses. */
export function changesOf(draft: Draft, saved: Json | null): Record<string, unknown> {
  const present = saved === null ? null : draftOf(saved)
  const fields = differing(bodyOf(draft), present === null ? {} : bodyOf(present))
  const locales = differing(localesOf(draft), present === null ? {} : localesOf(present))
  for (const removed of Object.keys(present?.locales ?? {})) if (!(removed in draft.locales)) locales[removed] = null
  return { ...fields, ...(Object.keys(locales).length > 0 && { locales }) }
}

/** The wanted values that differ from the present ones. */
function differing(wanted: Record<string, unknown>, present: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(wanted)
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name])))
}

function bodyOf({ name, alias, layout, sample, locales: _, ...texts }: Draft): Record<string, unknown> {
  const read = readSample(sample)
  return {
    name,
    alias: alias === '' ? null : alias,
    ...textsGiven(texts),
    layout: layout === '' ? null : layout,
    sample: 'sample' in read ? read.sample : sample,
  }
}

const localesOf = ({ locales }: Draft): Record<string, unknown> =>
  Object.fromEntries(Object.entries(locales).map(([locale, texts]) => [locale, textsGiven(texts)]))

/** Draft → the same after a save: with the HTML that Postrider compiled, and without MJML that a language does not use. */
export function withSaved(draft: Draft, saved: Json): Draft {
  const settled = (texts: Texts, { html }: Json): Texts =>
    texts.source === 'mjml' ? { ...texts, html: html ?? '' } : { ...texts, mjml: '' }
  const locales = Object.entries(draft.locales).map(
    ([locale, texts]) => [locale, settled(texts, saved.locales?.[locale] ?? {})] as const,
  )
  return { ...draft, ...settled(draft, saved), locales: Object.fromEntries(locales) }
}

/** Keeps unsaved texts of a template in this browser tab, so that a reload or an ended session loses nothing. `key` is the
 *  ID of a template, or the kind of a new one as kindText writes it. Does nothing if storage is disabled or full. */
export function keepDraft(key: string, draft: Draft): void {
  try {
    window.sessionStorage.setItem(KEY + key, JSON.stringify(draft))
  } catch {
    // the draft ends with the page
  }
}

/** The unsaved texts of a template; null without any. */
export function keptDraft(key: string): Draft | null {
  try {
    const kept: Draft | null = JSON.parse(window.sessionStorage.getItem(KEY + key) ?? 'null')
    return kept && { ...draftOf(null), ...kept }
  } catch {
    return null
  }
}

export function forgetDraft(key: string): void {
  try {
    window.sessionStorage.removeItem(KEY + key)
  } catch {
    // nothing is stored
  }
}

const KEY = 'postrider.draft.'
