import { Refusal } from '../../model/refusal.ts'
import { lackingIn, StandIns } from './missing-variables.ts'
import {
  fillOnce,
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

/** Texts and the variables so far → preview. Throws like `fillTemplate`, but for a missing variable only when a
 *  placeholder cannot replace it, as for a list, or when too many are missing: `details.variables` then lists all. All
 *  tries together cost at most as much as two mails. */
export function previewTemplate(
  texts: TemplateTexts,
  variables: Record<string, unknown>,
  parts?: TemplateParts,
): Preview {
  const parsed = parseTemplateTexts(texts)
  const names = variablesIn(parsed, parts)
  const standIns = new StandIns(names, variables)
  const workBudget = { left: 2 * WORK }
  for (;;) {
    try {
      const rendered = fillOnce(parsed, standIns.given, workBudget, parts)
      return { ...rendered, variables: names, missing: standIns.missing }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (!standIns.replace(lackingIn(error))) throw withVariables(error, names)
    }
  }
}

/** An error about a missing variable lists all of them. */
function withVariables({ reason, message, field, details }: Refusal, variables: string[]): Refusal {
  return new Refusal(reason, message, { field, details: { ...details, variables } })
}
