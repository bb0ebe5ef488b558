import type { Template, TemplateContent, TemplateVariant } from '../model/template.ts'

/** Columns of templates that hold JSON, the same in both stores. */

/** A row with the content of one version. */
export type ContentRow<T extends TemplateContent> = Omit<T, 'variables' | 'mjml' | 'layout' | 'uses' | 'locales'> & {
  variables: string
  extra: string | null
}
export type TemplateRow = Omit<ContentRow<Template>, 'sample'> & { sample: string }

/** Content → the column `extra`; null for a template without MJML, layout, partials and other languages. */
export function packExtra({ mjml, layout, uses, locales }: TemplateContent): string | null {
  const isPlain = mjml === null && layout === null && uses.length === 0 && Object.keys(locales).length === 0
  return isPlain ? null : JSON.stringify({ mjml, layout, uses, locales } satisfies Extra)
}

/** Content → the column `uses`, without repetition. */
export function packUses({ layout, uses }: TemplateContent): string {
  return JSON.stringify([...new Set(layout === null ? uses : [layout, ...uses])])
}

/** Alias → the pattern of `like` for the column `uses`: an alias has no character that `like` treats as special. */
export const usesPattern = (alias: string) => `%"${alias}"%`

/** The inverse of packExtra, for a whole row. */
export function toContent<R extends { variables: string; extra: string | null }>({ variables, extra, ...rest }: R) {
  const parsed: string[] = JSON.parse(variables)
  const { mjml = null, layout, uses, locales }: StoredExtra = extra === null ? NOTHING : JSON.parse(extra)
  const variants = Object.entries(locales).map(([locale, texts]) => [locale, { ...texts, mjml: texts.mjml ?? null }])
  return { ...rest, variables: parsed, mjml, layout, uses, locales: Object.fromEntries(variants) as Extra['locales'] }
}

export function toTemplate({ sample, ...rest }: TemplateRow): Template {
  return { ...toContent(rest), sample: JSON.parse(sample) }
}

/** Whether the texts are the same. Their variables follow from them. */
export function isSameContent(one: TemplateContent, other: TemplateContent): boolean {
  const isSameText = one.subject === other.subject && one.html === other.html && one.text === other.text
  return isSameText && packExtra(one) === packExtra(other)
}

interface Extra {
  mjml: string | null
  layout: string | null
  uses: string[]
  locales: Record<string, TemplateVariant>
}

/** Rows of earlier releases have no `mjml`. */
type StoredExtra = Omit<Extra, 'mjml' | 'locales'> & {
  mjml?: string | null
  locales: Record<string, Omit<TemplateVariant, 'mjml'> & { mjml?: string | null }>
}

const NOTHING: StoredExtra = { layout: null, uses: [], locales: {} }
