import { Refusal } from '../../../model/refusal.ts'
import { fillTemplate, parseTemplateTexts, variablesIn } from '../../../sending/submission/render.ts'
import { comparable, simplified, withPadding } from './compare.ts'
import { type Component, ComponentFault, type RenderedMail } from './component.ts'
import { computes, createMarks } from './marks.ts'
import { type Probe, probesFor, withValue } from './probes.ts'
import { ConversionFault, type Node, propsOf, type State, shapeOf, type Variable, variablesOf } from './shape.ts'
import { type Condition, liquidOf } from './structure.ts'
import type { Part } from './tokens.ts'
import { excerpt, pathWords } from './words.ts'

/** A component as the texts of a template. */
export interface Converted {
  /** Null if the file has no `subject`. */
  subject: string | null
  html: string
  text: string
  sample: Record<string, unknown>
  /** Names that the template uses. */
  variables: string[]
  /** Names in PreviewProps that it does not use. */
  unused: string[]
}

const MAX_RENDERS = 3_000

/** Component and its source → a template that renders like it. `subject` is Liquid and replaces that of the file. It
 *  renders the component with marks as values, writes Liquid, and compares both for PreviewProps and for each probe.
 *  Throws ConversionFault with the variable and the reason if they differ, and ComponentFault if the component fails. */
export async function converted(component: Component, source: string, subject?: string): Promise<Converted> {
  const render = limited(component)
  const { sample } = component
  const like = await render(sample)
  const again = await component.render(sample)
  if (like.html !== again.html || like.subject !== again.subject) {
    throw new ConversionFault('It renders differently each time. Pass times and random values as props.')
  }
  const shape = shapeOf(sample)
  const variables = variablesOf(shape)
  await requireMarkable(sample, variables, render)
  const texts = await liquidTexts(shape, variables, render)
  const made = {
    subject: subject ?? like.written ?? texts.subject,
    html: withPadding(texts.html!, like.html),
    text: texts.text!,
  }
  const parsed = parsedOf(made)
  const probes = probesFor(sample, variables, source)
  await requireAlike(probes, { render, parsed, made })
  const used = variablesIn(parsed)
  const isUsed = ({ key }: Variable) => used.some((name) => name === key || name.startsWith(`${key}.`))
  const roots = variables.filter(({ key }) => !key.includes('.*'))
  return { ...made, sample, variables: used, unused: roots.filter((each) => !isUsed(each)).map(({ key }) => key) }
}

type Rendering = (props: Record<string, unknown>) => Promise<RenderedMail>

/** Renders each props once. */
function limited(component: Component): Rendering {
  const known = new Map<string, RenderedMail>()
  return async (props) => {
    const key = JSON.stringify(props)
    const before = known.get(key)
    if (before !== undefined) return before
    if (known.size === MAX_RENDERS) throw new ConversionFault('It has too many conditions that depend on each other.')
    const mail = await component.render(props)
    known.set(key, mail)
    return mail
  }
}

/** Renders the component with a mark in place of each text and number. Throws ConversionFault if the component fails with
 *  the mark of a variable, because it computes with its value, for example as a date. */
async function requireMarkable(sample: Record<string, unknown>, variables: Variable[], render: Rendering) {
  const marks = createMarks()
  for (const { key, kind } of variables) {
    if (kind !== 'string' && kind !== 'number') continue
    try {
      await render(withValue(sample, key, marks.value(key, [], kind)))
    } catch (error) {
      if (!(error instanceof ComponentFault)) throw error
      throw new ConversionFault(`${computes(key)}\n  with another value it fails: ${error.message}`)
    }
  }
}

async function liquidTexts(
  shape: Node,
  variables: Variable[],
  render: Rendering,
): Promise<Record<Part, string | null>> {
  const marks = createMarks()
  const kinds = new Map(variables.map(({ key, kind }) => [key, kind]))
  const value = (key: string, indices: number[]) =>
    marks.value(key, indices, kinds.get(key) === 'number' ? 'number' : 'string')
  const mailIn = (state: State) => render(propsOf(shape, state, value) as Record<string, unknown>)
  const signed = (part: Part) => async (state: State) => {
    const mail = await mailIn(state)
    return marks.find(part === 'html' ? simplified(mail.html) : (mail[part] ?? ''), part === 'html')
  }
  const condition = await conditionsFor(variables, signed('html'))
  const names = new Set(variables.map(({ key }) => key.split('.', 1)[0]!))
  const hasSubject = (await mailIn(ON)).subject !== null
  const liquid = (part: Part) => liquidOf(variables, { part, render: signed(part), marks, condition, names })
  return {
    html: await liquid('html'),
    text: await liquid('text'),
    subject: hasSubject ? await liquid('subject') : null,
  }
}

const ON: State = { off: new Set(), sizes: new Map() }
const ADVICE =
  'A template can print it, test whether it is true or empty, and repeat rows. Pass finished texts instead.'

/** How Liquid tests each switch. A missing value is off, unless the component has a default for it. */
async function conditionsFor(variables: Variable[], html: (state: State) => Promise<string>): Promise<Condition> {
  const on = await html(ON)
  const hasDefault = new Set<string>()
  for (const { key, kind } of variables) {
    if (kind !== 'boolean' && kind !== 'string') continue
    const off = await html({ ...ON, off: new Set([key]) })
    const absent = await html({ ...ON, absent: key }).catch(() => off)
    if (on !== off && absent !== off) hasDefault.add(key)
  }
  const kinds = new Map(variables.map(({ key, kind }) => [key, kind]))
  return (key, path) => {
    const kind = kinds.get(key)
    if (kind === 'list') return `${path}.size > 0`
    if (kind === 'boolean') return hasDefault.has(key) ? `${path} != false` : path
    return hasDefault.has(key) ? `${path} != ""` : `${path} and ${path} != ""`
  }
}

type Made = Pick<Converted, 'subject' | 'html' | 'text'>
type Parsed = ReturnType<typeof parseTemplateTexts>

function parsedOf(made: Made): Parsed {
  try {
    return parseTemplateTexts(made)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new ConversionFault(error.faults?.map(({ message }) => message).join('\n') ?? error.message)
  }
}

interface Check {
  render: Rendering
  parsed: Parsed
  made: Made
}

/** Throws ConversionFault for the first difference; one of a single variable comes first. */
async function requireAlike(probes: Probe[], check: Check): Promise<void> {
  let whole: { probe: Probe; words: string } | null = null
  for (const probe of probes) {
    const words = await differenceIn(probe, check)
    if (words === null) continue
    if (probe.key !== null) throw new ConversionFault(`${reasonFor(probe, check)}\n${words}`)
    whole ??= { probe, words }
  }
  if (whole !== null) {
    throw new ConversionFault(`The template would differ from the component ${whole.probe.words}.\n${whole.words}`)
  }
}

function reasonFor({ key, words }: Probe, { parsed }: Check): string {
  const isUsed = variablesIn(parsed).some((name) => name === key || key!.startsWith(`${name}.`))
  if (!isUsed) return computes(key!)
  return `${pathWords(key!)}: the component does more with it than a template can: they differ ${words}. ${ADVICE}`
}

/** What differs for one probe, in words; null if nothing does, or if the component itself fails. */
async function differenceIn(
  { props, isMissing, hasEmpty, skipsText }: Probe,
  { render, parsed, made }: Check,
): Promise<string | null> {
  let mail: RenderedMail
  try {
    mail = await render(props)
  } catch (error) {
    if (error instanceof ComponentFault) return null
    throw error
  }
  try {
    const filled = fillTemplate(parsed, props)
    for (const part of ['html', 'text', 'subject'] as const) {
      if (part === 'subject' && (made.subject === null || mail.subject === null)) continue
      if (part === 'text' && skipsText) continue
      const [here = '', there = ''] = [mail, filled].map((each) => {
        const whole = comparable(each[part] ?? '', part)
        return part === 'text' && hasEmpty ? whole.replace(/\s+/g, ' ') : whole
      })
      if (here === there) continue
      let at = 0
      while (here[at] === there[at]) at++
      return `  component (${part}): ${excerpt(here, at)}\n  template: ${excerpt(there, at)}`
    }
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return isMissing && error.details?.variable !== undefined ? null : `  template: ${error.message}`
  }
}
