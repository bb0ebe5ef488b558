import type { Mode } from './message.ts'

/** A reusable mail with variables, owned by an organization. Messages are created from it with values for the
 *  variables. */
export interface Template extends TemplateContent {
  id: string
  organizationId: string
  /** `test`: created by a test key, and used by test messages only. */
  mode: Mode
  kind: TemplateKind
  /** Alternative name, chosen by the owner, that is the same for all versions; null = none. */
  alias: string | null
  name: string
  /** Values of variables for previews and checks; messages never use them. */
  sample: Record<string, unknown>
  /** Version number, from 1; a content change increments it. */
  version: number
  createdAt: number
  updatedAt: number
}

/** What a template is for: messages, the frame around the body of others, or a part of others. Never changes. */
export type TemplateKind = (typeof TEMPLATE_KINDS)[number]
export const TEMPLATE_KINDS = ['message', 'layout', 'partial'] as const

/** The texts of a template as written by its author. At least one of `html` and `text` is present. */
export interface TemplateTexts {
  /** Null = each message provides its own; always null for a layout and a partial. */
  subject: string | null
  html: string | null
  text: string | null
}

/** Texts, with the MJML that `html` was compiled from. */
export interface SourceTexts extends TemplateTexts {
  /** Null = the author wrote `html` itself. */
  mjml: string | null
}

/** Texts with variables, in the default language and in others. */
export interface TemplateContent extends TemplateVariant {
  /** Alias of the layout around `html` and `text`; null = none. */
  layout: string | null
  /** Aliases of the partials that the texts of all languages render, each once. */
  uses: string[]
  /** Variants by locale, as localeOf writes it. */
  locales: Record<string, TemplateVariant>
}

/** The texts in one language. */
export interface TemplateVariant extends SourceTexts {
  /** Names of the variables, in the order of their first use, for example `user.name`. */
  variables: string[]
}

/** Content of one version. The newest version is the current one. */
export interface TemplateVersion extends TemplateContent {
  version: number
  createdAt: number
}

/** Languages of a template besides its default. */
export const MAX_LOCALES = 50
/** Characters of all their texts together: the whole version is read and cached at once. */
export const MAX_LOCALE_CHARACTERS = 2 ** 20

/** Text → why it cannot be an alias, as a predicate; null if it can. An ID is never a valid alias, because it has an
 *  underscore. */
export function aliasFault(alias: string): string | null {
  return /^[a-z0-9-]{1,100}$/.test(alias) ? null : 'must be 1 to 100 lower-case letters, digits and hyphens'
}

/** Language tag → the tag in its usual case, `pt-BR`; null unless it is a language with an optional script and region.
 *  RFC 5646 §2.1, §2.1.1 */
export function localeOf(tag: string): string | null {
  const match = /^([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?$/i.exec(tag)
  if (match === null) return null
  const [, language = '', script, region] = match
  const written = script === undefined ? [] : [script[0]!.toUpperCase() + script.slice(1).toLowerCase()]
  return [language.toLowerCase(), ...written, ...(region === undefined ? [] : [region.toUpperCase()])].join('-')
}

/** Content and wanted locale → the variant for it and its locale, null for the default: `pt-BR`, then `pt`, then the
 *  default. RFC 4647 §3.4 */
export function variantFor(
  content: TemplateContent,
  locale: string | null,
): { locale: string | null; variant: TemplateVariant } {
  for (let tag = locale ?? ''; tag !== ''; tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))) {
    const variant = content.locales[tag]
    if (variant !== undefined) return { locale: tag, variant }
  }
  return { locale: null, variant: content }
}
