import { z } from 'zod'
import { localeOf, MAX_LOCALES, type TemplateTexts } from '../../model/template.ts'
import { isRecord } from '../../os/records.ts'
import { bodyFault } from '../../submission/checks.ts'
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
export const texts = { subject: subject.nullish(), html: body.nullish(), text: body.nullish() }
/** The field `locales`, read as `changedLocales` takes it. */
export const locales = z
  .unknown()
  .transform(readLocales)
  .nullish()
  .meta({
    type: ['object', 'null'],
    maxProperties: MAX_LOCALES,
    propertyNames: LOCALE,
    additionalProperties: {
      type: ['object', 'null'],
      properties: {
        subject: { type: ['string', 'null'], ...NOT_BLANK_TEXT },
        html: { type: ['string', 'null'], ...BODY },
        text: { type: ['string', 'null'], ...BODY },
      },
      additionalProperties: false,
    },
  })
  .describe('Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one.')

const variant = z.strictObject(texts)

/** Locale → texts, null for one to remove; under the usual case of the locale. */
function readLocales(value: unknown, context: z.RefinementCtx): Map<string, TemplateTexts | null> | null {
  if (value === null || value === undefined) return null
  const found = new Map<string, TemplateTexts | null>()
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
      refuse([], `must have language tags such as de or pt-BR, each once, not ${tag.slice(0, 40)}`)
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
  present: Record<string, TemplateTexts>,
  change: Map<string, TemplateTexts | null> | null | undefined,
): Record<string, TemplateTexts> {
  if (change === null) return {}
  const changed = new Map<string, TemplateTexts | null>(Object.entries(present))
  for (const [locale, texts] of change ?? []) changed.set(locale, texts)
  const kept = [...changed].filter((entry): entry is [string, TemplateTexts] => entry[1] !== null)
  return Object.fromEntries(kept.map(([locale, texts]) => [locale, textsOf(texts)]))
}

/** Texts of a request → with null for what is absent. */
export function wholeTexts({
  subject,
  html,
  text,
}: { [K in keyof TemplateTexts]?: string | null | undefined }): TemplateTexts {
  return { subject: subject ?? null, html: html ?? null, text: text ?? null }
}
