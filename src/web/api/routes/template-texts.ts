import { z } from 'zod'
import { cutText } from '../../../mail/cut-text.ts'
import { localeOf, MAX_LOCALES, type SourceTexts } from '../../../model/template.ts'
import { isRecord } from '../../../os/records.ts'
import { bodyFault } from '../../../sending/submission/checks.ts'
import { BODY, LOCALE, NOT_BLANK_TEXT } from '../patterns.ts'
import { textsOf } from './template-content.ts'

const subject = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be empty')
  .meta(NOT_BLANK_TEXT)
const body = z
  .string()
  .superRefine((text, context) => {
    const fault = bodyFault(text)
    if (fault !== null) context.addIssue({ code: 'custom', message: fault })
  })
  .meta(BODY)
/** The texts of a template or variant in a request. */
export const texts = {
  subject: subject.nullish(),
  html: body.nullish(),
  mjml: body.nullish().describe('MJML, from which Postrider compiles `html`. Send one of the two.'),
  text: body.nullish(),
}
/** The field `locales`, read as `changedLocales` takes it. */
export const locales = z
  .unknown()
  .transform(readLocales)
  .optional()
  .meta({
    type: ['object', 'null'],
    maxProperties: MAX_LOCALES,
    propertyNames: LOCALE,
    additionalProperties: {
      type: ['object', 'null'],
      properties: {
        subject: { type: ['string', 'null'], ...NOT_BLANK_TEXT },
        html: { type: ['string', 'null'], ...BODY },
        mjml: { type: ['string', 'null'], ...BODY },
        text: { type: ['string', 'null'], ...BODY },
      },
      additionalProperties: false,
    },
  })
  .describe('Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one.')

/** Refuses html beside MJML, because one of them would have no effect. */
export function requireOneSource(
  { html, mjml }: { html?: string | null | undefined; mjml?: string | null | undefined },
  context: z.RefinementCtx,
): void {
  if (html != null && mjml != null) {
    context.addIssue({ code: 'custom', path: ['mjml'], message: 'must be absent or null when html is present' })
  }
}

const variant = z.strictObject(texts).superRefine(requireOneSource)

/** Locale → texts, null for one to remove; under the usual case of the locale. */
function readLocales(value: unknown, context: z.RefinementCtx): Map<string, SourceTexts | null> | null {
  if (value === null || value === undefined) return null
  const found = new Map<string, SourceTexts | null>()
  const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (!isRecord(value)) {
    refuse([], 'must be an object')
    return found
  }
  const entries = Object.entries(value)
  if (entries.length > MAX_LOCALES) refuse([], `must have at most ${MAX_LOCALES} languages`)
  for (const [tag, given] of entries.slice(0, MAX_LOCALES)) {
    const locale = localeOf(tag)
    if (locale === null || found.has(locale)) {
      refuse([], `must have language tags such as de or pt-BR, each once, not ${cutText(tag, 40)}`)
      continue
    }
    const { success, data, error } = given === null ? { success: true, data: null } : variant.safeParse(given)
    for (const { path, message } of error?.issues ?? []) refuse([tag, ...path], message)
    if (success) found.set(locale, data === null ? null : wholeTexts(data))
  }
  return found
}

/** Present variants and a change → the wanted ones. Undefined changes nothing, null removes all. */
export function changedLocales(
  present: Record<string, SourceTexts>,
  change: Map<string, SourceTexts | null> | null | undefined,
): Record<string, SourceTexts> {
  if (change === null) return {}
  const changed = new Map<string, SourceTexts | null>(Object.entries(present))
  for (const [locale, texts] of change ?? []) {
    const before = present[locale]
    const isCompiled = texts !== null && texts.mjml !== null && texts.mjml === before?.mjml
    changed.set(locale, isCompiled ? { ...texts, html: before.html } : texts)
  }
  const kept = [...changed].filter((entry): entry is [string, SourceTexts] => entry[1] !== null)
  return Object.fromEntries(kept.map(([locale, texts]) => [locale, textsOf(texts)]))
}

/** Texts of a request → with null for what is absent. */
export function wholeTexts({
  subject,
  html,
  mjml,
  text,
}: { [K in keyof SourceTexts]?: string | null | undefined }): SourceTexts {
  return { subject: subject ?? null, html: html ?? null, mjml: mjml ?? null, text: text ?? null }
}

/** Present texts and a change of some → the wanted ones: given MJML replaces html, given html replaces MJML, and null for
 *  MJML alone keeps its html. */
export function changedTexts(
  present: SourceTexts,
  change: { [K in keyof SourceTexts]?: string | null | undefined },
): SourceTexts {
  const { subject = present.subject, text = present.text } = change
  if (change.mjml != null) {
    return { subject, text, mjml: change.mjml, html: change.mjml === present.mjml ? present.html : null }
  }
  const { html = present.html, mjml = change.html === undefined ? present.mjml : null } = change
  return { subject, text, html, mjml }
}
