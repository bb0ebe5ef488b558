import { Refusal } from '../model/refusal.ts'
import { fillTemplate, parseTemplateTexts, type Rendered, type TemplateTexts, variablesIn } from './render.ts'
import { WORK } from './template-work.ts'

/** What a template that is being written would become. */
export interface Preview extends Rendered {
  /** All that the texts ask for, in the order of their first use. */
  variables: string[]
  /** Those of them that were not given and have no default: they stand as `[user.name]`. */
  missing: string[]
}

/** Texts and as many variables as there are yet → preview. Throws as `renderTemplate` does, but for a missing variable only
 *  where no word can stand for it, as an entry of a list, or very many are missing: `details.variables` then has all.
 *  All tries together do no more work than two mails may. */
export function previewTemplate(texts: TemplateTexts, variables: Record<string, unknown>): Preview {
  const parsed = parseTemplateTexts(texts)
  const names = variablesIn(parsed)
  const given = structuredClone(variables)
  const missing: string[] = []
  const purse = { left: 2 * WORK }
  for (;;) {
    try {
      return { ...fillTemplate(parsed, given, purse), variables: names, missing }
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

/** Each is one more try. */
const MAX_MISSING = 100

/** Whoever is told that one is missing is to know them all. */
function withVariables({ reason, message, field, details }: Refusal, variables: string[]): Refusal {
  return new Refusal(reason, message, { field, details: { ...details, variables } })
}

/** Puts `[user.name]` where `user.name` is looked for; false where something is already. */
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
