import { z } from 'zod'
import { aliasFault, localeOf } from '../../../model/template.ts'
import { isId } from '../../../os/ids.ts'
import { isRecord } from '../../../os/records.ts'
import { isDeeperThan } from '../json-shape.ts'
import { LOCALE, TEMPLATE_NAME } from '../patterns.ts'

/** Request fields that refer to templates. */

/** Schema of the ID or alias of a template. */
export const templateName = z
  .string()
  .refine((name) => isId('tpl', name) || aliasFault(name) === null, 'must be the ID or alias of a template')
  .meta(TEMPLATE_NAME)

/** Schema of a locale, which gets its usual case: `pt-br` becomes `pt-BR`. */
export const templateLocale = z
  .string()
  .transform((tag, context) => localeOf(tag) ?? refused('must be a language tag such as de or pt-BR', context))
  .meta(LOCALE)

/** Schema of template variables: a JSON object whose size is limited, so that rendering stays fast. */
export const templateVariables = variablesOf(64 * 1024)

/** Schema of the sample of a template: smaller than variables, because it is stored and counts towards no limit of the
 *  plan but the number of templates. */
export const templateSample = variablesOf(16 * 1024)

function variablesOf(maxBytes: number) {
  return z
    .unknown()
    .meta({ type: 'object', additionalProperties: true })
    .transform((value, context): Record<string, unknown> => {
      if (!isRecord(value)) return refused('must be an object', context)
      const fault = variablesFault(value, maxBytes)
      return fault === null ? value : refused(fault, context)
    })
}

const MAX_LEVELS = 20

function refused(message: string, context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

function variablesFault(value: Record<string, unknown>, maxBytes: number): string | null {
  if (isDeeperThan(value, MAX_LEVELS)) return `must have at most ${MAX_LEVELS} levels`
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return bytes > maxBytes ? `must be at most ${maxBytes} bytes of JSON` : null
}
