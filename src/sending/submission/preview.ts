import { Refusal } from '../../model/refusal.ts'
import {
  fillTemplate,
  parseTemplateTexts,
  type Rendered,
  type TemplateParts,
  type TemplateTexts,
  variablesIn,
} from './render.ts'
import { WORK } from './template-work.ts'

/** Preview of an unfinished template. */
export interface Preview extends Rendered {
  /** All variables of the texts, in order of first use. */
  variables: string[]
  /** Variables without value and default; shown as `[user.name]`. */
  missing: string[]
}

/** Texts and the variables so far → preview. Throws like `renderTemplate`, but for a missing variable only when a
 *  placeholder cannot replace it, as for a list, or when too many are missing: `details.variables` then lists all. All
 *  tries together cost at most as much as two mails. */
export function previewTemplate(
  texts: TemplateTexts,
  variables: Record<string, unknown>,
  parts?: TemplateParts,
): Preview {
  const parsed = parseTemplateTexts(texts)
  const names = variablesIn(parsed, parts)
  const given = structuredClone(variables)
  const missing: string[] = []
  const workBudget = { left: 2 * WORK }
  for (;;) {
    try {
      return { ...fillTemplate(parsed, given, workBudget, parts), variables: names, missing }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const lacking = error.details?.variable
      const before = missing.length
      for (const name of names) {
        const isLacking = name === lacking || name.startsWith(`${lacking}.`) || name.startsWith(`${lacking}[`)
        if (isLacking && !missing.includes(name) && stand(given, name)) missing.push(name)
      }
      if (missing.length === before || missing.length > MAX_MISSING) throw withVariables(error, names)
    }
  }
}

/** Each costs one more try. */
const MAX_MISSING = 100

/** An error about a missing variable lists all of them. */
function withVariables({ reason, message, field, details }: Refusal, variables: string[]): Refusal {
  return new Refusal(reason, message, { field, details: { ...details, variables } })
}

/** Sets `[user.name]` at `user.name`; false if something is already there. */
function stand(given: Record<string, unknown>, name: string): boolean {
  const path = name.match(/[^.[\]"']+/g) ?? [name]
  const last = path.pop()!
  let at = given
  for (const part of path) {
    if (!Object.hasOwn(at, part)) at[part] = {}
    const next = at[part]
    if (typeof next !== 'object' || next === null) return false
    at = next as Record<string, unknown>
  }
  if (Object.hasOwn(at, last)) return false
  Object.defineProperty(at, last, { value: `[${name}]`, enumerable: true, configurable: true, writable: true })
  return true
}
