import type { Template, TemplateContent, TemplateVariant } from '../model/template.ts'

/** Columns of templates that hold JSON, the same in both stores. */

/** A row with the content of one version. */
export type ContentRow<T extends TemplateContent> = Omit<T, 'variables' | 'layout' | 'uses' | 'locales'> & {
  variables: string
  extra: string | null
}
export type TemplateRow = Omit<ContentRow<Template>, 'sample'> & { sample: string }

/** Content → the column `extra`; null for a template without layout, partials and other languages. */
export function packExtra({ layout, uses, locales }: TemplateContent): string | null {
  const isPlain = layout === null && uses.length === 0 && Object.keys(locales).length === 0
  return isPlain ? null : JSON.stringify({ layout, uses, locales } satisfies Extra)
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
  const { layout, uses, locales }: Extra = extra === null ? NOTHING : JSON.parse(extra)
  return { ...rest, variables: parsed, layout, uses, locales }
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
  layout: string | null
  uses: string[]
  locales: Record<string, TemplateVariant>
}

const NOTHING: Extra = { layout: null, uses: [], locales: {} }
