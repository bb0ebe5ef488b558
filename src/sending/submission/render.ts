import { invalid, Refusal } from '../../model/refusal.ts'
import type { TemplateKind, TemplateTexts } from '../../model/template.ts'
import { bodyFault, subjectFault } from './checks.ts'
import { lackingIn, namingAllMissing, StandIns } from './missing-variables.ts'
import {
  createFilling,
  type ParsedParts,
  type ParsedText,
  parseText,
  requireKnownDates,
  TemplateFault,
} from './template-engine.ts'
import { WORK, type WorkBudget } from './template-work.ts'

/** Renders a template with variables to subject, html and text. Only `html` is escaped. */

export type { TemplateTexts } from '../../model/template.ts'
/** The name of a text. */
export type TemplateField = keyof TemplateTexts

/** A template with parsed texts; null where a text is absent. */
export type ParsedTemplate = Record<TemplateField, ParsedText | null>

/** The layout and the partials of a template, parsed; those that the partials render included. */
export interface TemplateParts {
  layout: ParsedTemplate | null
  partials: ReadonlyMap<string, ParsedTemplate>
}

const NO_PARTS: TemplateParts = { layout: null, partials: new Map() }

/** Rendered texts. */
export interface Rendered {
  /** One line; null if the message provides it. */
  subject: string | null
  /** At least one of the two. */
  html: string | null
  text: string | null
}

const FIELDS: readonly TemplateField[] = ['subject', 'html', 'text']

/** Texts → parsed texts. Throws one `validation_error` for all faults; `details` has `line` and `column` of the first,
 *  both from 1, null for a fault of the whole text. */
export function parseTemplateTexts(texts: TemplateTexts): ParsedTemplate {
  return parseAll(texts, parseStored, '')
}

/** The same for texts that a user saves: stricter than for those that are stored already. `at` precedes the names of
 *  fields: `locales.de.`. */
export function parseNewTexts(texts: TemplateTexts, kind: TemplateKind, at: string): ParsedTemplate {
  return parseAll(texts, (field, source) => parseNew(field, source, kind), at)
}

function parseAll(
  texts: TemplateTexts,
  parse: (field: TemplateField, source: string) => ParsedText,
  at: string,
): ParsedTemplate {
  const parsed: ParsedTemplate = { subject: null, html: null, text: null }
  const wrong: { field: string; fault: TemplateFault }[] = []
  for (const field of FIELDS) {
    const source = texts[field]
    try {
      if (source !== null) parsed[field] = parse(field, source)
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error
      wrong.push({ field: at + field, fault: error })
    }
  }
  if (wrong.length > 0) throw syntaxRefusal(wrong)
  return parsed
}

function parseStored(field: TemplateField, source: string): ParsedText {
  const parsed = parseText(source, field === 'html' ? 'html' : 'plain')
  if (field === 'subject' && parsed.renders.length > 0) throw wholeFault('a subject cannot render a partial')
  return parsed
}

function parseNew(field: TemplateField, source: string, kind: TemplateKind): ParsedText {
  const parsed = parseStored(field, source)
  requireKnownDates(parsed)
  if (kind === 'layout' && !parsed.isFrame) throw wholeFault('a layout needs {{ content }} exactly once')
  return parsed
}

function wholeFault(message: string): TemplateFault {
  return new TemplateFault(message, { line: null, column: null, variable: null })
}

/** Names of all variables, those of the subject first, then those of its partials and its layout. Without `content`,
 *  which the layout gets, and without names that a partial gets wherever it is rendered. */
export function variablesIn(parsed: ParsedTemplate, { layout, partials }: TemplateParts = NO_PARTS): string[] {
  const given = givenTo([parsed, ...partials.values(), ...(layout === null ? [] : [layout])])
  const inPartials = [...partials].flatMap(([alias, partial]) =>
    namesIn(partial).filter((name) => !given.get(alias)?.has(rootOf(name))),
  )
  const inLayout = layout === null ? [] : namesIn(layout).filter((name) => rootOf(name) !== 'content')
  return [...new Set([...namesIn(parsed), ...inPartials, ...inLayout])]
}

/** Aliases of the partials that the texts themselves render, each once. */
export function usesIn(parsed: ParsedTemplate): string[] {
  return [...new Set(FIELDS.flatMap((field) => parsed[field]?.renders.map(({ alias }) => alias) ?? []))]
}

const namesIn = (parsed: ParsedTemplate) => FIELDS.flatMap((field) => parsed[field]?.variables ?? [])
/** `user.name` and `user["name"]` → `user`. */
const rootOf = (name: string) => name.split(/[.[]/, 1)[0]!

/** Texts → per partial the names that it gets wherever they render it. */
function givenTo(all: ParsedTemplate[]): Map<string, ReadonlySet<string>> {
  const always = new Map<string, ReadonlySet<string>>()
  for (const { alias, given } of all.flatMap((each) => FIELDS.flatMap((field) => each[field]?.renders ?? []))) {
    const before = always.get(alias)
    always.set(alias, new Set(before === undefined ? given : given.filter((name) => before.has(name))))
  }
  return always
}

/** Parsed texts and variables → rendered texts; does not modify `variables`. Line breaks in the subject become spaces;
 *  an empty text counts as missing. Throws `template_error`: `details.variable` is the first missing variable without
 *  default, `details.field` its text, and `details.missing` lists all if there are several. Finding them costs at most as
 *  much as another mail. Texts omitted from `parsed` are not rendered or required. */
export function fillTemplate(
  parsed: ParsedTemplate,
  variables: Record<string, unknown>,
  workBudget?: WorkBudget,
  parts: TemplateParts = NO_PARTS,
): Rendered {
  try {
    return fillOnce(parsed, variables, workBudget, parts)
  } catch (error) {
    if (!(error instanceof Refusal) || lackingIn(error) === '') throw error
    const most = Math.min(WORK, workBudget?.left ?? WORK)
    const budget = { left: most }
    const standIns = new StandIns(variablesIn(parsed, parts), variables)
    const named = namingAllMissing(error, standIns, (given) => fillOnce(parsed, given, budget, parts))
    if (workBudget !== undefined) workBudget.left -= most - budget.left
    throw named
  }
}

/** The same, for a caller that puts something in place of missing variables: only the first one is named. */
export function fillOnce(
  parsed: ParsedTemplate,
  variables: Record<string, unknown>,
  workBudget?: WorkBudget,
  parts: TemplateParts = NO_PARTS,
): Rendered {
  const fill = createFilling(variables, workBudget)
  const filled = (field: TemplateField) => {
    const text = parsed[field]
    try {
      return text === null ? null : fill(text, partsFor(field, parts))
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error
      throw renderRefusal(field, error)
    }
  }
  const subject = filled('subject')?.replace(LINE_BREAKS, ' ').trim() ?? null
  const html = filled('html')
  const text = blankToNull(filled('text'))
  requireGood('subject', subject, subjectFault)
  requireGood('html', html, bodyFault)
  requireGood('text', text, bodyFault)
  if (html === null && text === null) throw poorRefusal('text', 'must not be empty')
  return { subject, html, text }
}

/** A text without its counterpart in the layout has no layout. */
function partsFor(field: TemplateField, { layout, partials }: TemplateParts): ParsedParts {
  const texts = [...partials].flatMap(([alias, partial]): [string, ParsedText][] => {
    const text = partial[field]
    return text === null ? [] : [[alias, text]]
  })
  return { layout: layout?.[field] ?? null, partials: new Map(texts) }
}

const LINE_BREAKS = /[\r\n\u2028\u2029]+/g

function blankToNull(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text
}

function requireGood(field: TemplateField, text: string | null, faultOf: (text: string) => string | null): void {
  const fault = text === null ? null : faultOf(text)
  if (fault !== null) throw poorRefusal(field, fault)
}

function syntaxRefusal(wrong: { field: string; fault: TemplateFault }[]): Refusal {
  const faults = wrong.map(({ field, fault: { line, column, message } }) => {
    const place = line === null ? '' : ` at line ${line}, column ${column}`
    return { field, message: `${field} is not a valid template${place}: ${message}` }
  })
  const { message, field } = invalid(faults)
  const { line, column } = wrong[0]!.fault
  return new Refusal('validation_error', message, { field, faults, details: { line, column } })
}

function renderRefusal(field: TemplateField, { message, variable, line, column }: TemplateFault): Refusal {
  const what =
    variable === null
      ? `The template’s ${field} could not be rendered: ${message}`
      : `${message}, in the template’s ${field}`
  const details = { ...(variable === null ? {} : { variable }), field, line, column }
  return new Refusal('template_error', what, { field: 'variables', details })
}

/** The rendered text is not valid for sending. */
function poorRefusal(field: TemplateField, fault: string): Refusal {
  return new Refusal('template_error', `${field} of the rendered template ${fault}`, {
    field: 'variables',
    details: { field },
  })
}
