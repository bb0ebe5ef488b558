import { cutText } from '../../../mail/cut-text.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { MAX_TEXT, parseText, TemplateFault } from '../template-engine.ts'
import { bundledMjml } from './bundled.ts'
import { type Masked, maskLiquid } from './liquid.ts'
import { checkedStructure, MjmlFault, type Structure } from './structure.ts'

export type MjmlLibrary = typeof import('./library.ts')

let loading: Promise<MjmlLibrary> | null = null

/** Loads the MJML library, once in a thread: about 100 ms and 15 MB. */
export function loadMjml(): Promise<MjmlLibrary> {
  loading ??= bundledMjml().then((text) => {
    const library = { exports: {} as MjmlLibrary }
    const noModule = (name: string) => {
      throw new Error(`${name} is not part of the bundled MJML library`)
    }
    new Function('module', 'exports', 'require', text)(library, library.exports, noModule)
    return library.exports
  })
  return loading
}

/** MJML with Liquid → html with the same Liquid; `at` precedes the name of the field in faults. Rejects with
 *  `validation_error` for a fault of MJML or of Liquid, for Liquid that the html would not contain, and for a html that is
 *  too long. `details` has the `line` of the first fault, from 1; null for one of the whole text. */
export async function compileMjml(source: string, at: string, library: MjmlLibrary): Promise<string> {
  const refuse = (message: string, line: number | null) => refusal(`${at}mjml`, message, line)
  try {
    parseText(source, 'html')
    const masked = maskLiquid(source)
    const html = await htmlOf(masked, library)
    if (html.length > MAX_TEXT) {
      throw new TemplateFault(`its html is longer than ${MAX_TEXT} characters`, NOWHERE)
    }
    parseText(html, 'html')
    return html
  } catch (error) {
    if (error instanceof TemplateFault) throw refuse(error.message, error.line)
    if (error instanceof RangeError) throw refuse('it is nested too deeply', null)
    throw error
  }
}

const NOWHERE = { line: null, column: null, variable: null }

async function htmlOf(masked: Masked, library: MjmlLibrary): Promise<string> {
  const atPosition = (message: string, position: number) =>
    new TemplateFault(masked.restore(message), { ...NOWHERE, line: masked.lineAt(position) })
  const rules = {
    elements: new Set(library.elements),
    htmlElements: new Set(library.htmlElements),
    rawParents: new Set(library.rawParents),
    word: masked.word,
  }
  const { text, before, after } = structureOf(masked.text, rules, atPosition)
  const tree = library.parse(text)
  const fault = faultIn(tree, library, masked.word)
  if (fault !== null) throw atPosition(fault.message, startOfLine(masked.text, fault.line))
  const html = before + (await library.render(tree)) + after
  const lost = lostPiece(masked, html)
  if (lost !== null) {
    throw atPosition(`MJML does not use ${masked.wordOf(lost)} here`, masked.text.indexOf(masked.wordOf(lost)))
  }
  return masked.restore(html)
}

function structureOf(
  text: string,
  rules: Parameters<typeof checkedStructure>[1],
  atPosition: (message: string, position: number) => TemplateFault,
): Structure {
  try {
    return checkedStructure(text, rules)
  } catch (error) {
    throw error instanceof MjmlFault ? atPosition(error.message, error.position) : error
  }
}

interface Fault {
  line: number
  message: string
}

/** The first fault that changes the mail: an unknown or misplaced element, or Liquid in a length, with which MJML computes. The
 *  library also reports attributes that it ignores. Existing MJML has many of them. */
function faultIn(tree: MjmlNode, library: MjmlLibrary, word: RegExp): Fault | null {
  const costly = costlyValue(tree)
  if (costly !== null) return costly
  if (!tree.children?.some(({ tagName }) => tagName === BODY)) {
    return { line: tree.line, message: `the document has no ${BODY}` }
  }
  for (const { line, message, tagName } of library.validate(tree)) {
    if (/^Element .* doesn't exist|cannot be used inside/.test(message)) {
      return { line, message: message.replace(/^Element (\S+) .*/, 'there is no element $1') }
    }
    if (message.search(word) !== -1 && / for type (?:Unit|NInteger)/.test(message)) {
      return { line, message: `${tagName}: ${message.replace(/ for type .*/, '')}. A length cannot contain Liquid` }
    }
  }
  return null
}

const BODY = 'mj-body'
/** Characters of an attribute that is not an address. */
const MAX_VALUE = 1_000
const ADDRESS = /(?:src|href|url|srcset)$/

/** The library examines values with slow regular expressions, and the name of a font becomes part of one. */
function costlyValue(tree: MjmlNode): Fault | null {
  const open = [tree]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { tagName, line, attributes, children = [] } = node
    const long = Object.entries(attributes).find(([name, value]) => !ADDRESS.test(name) && isLong(value))
    if (long !== undefined) {
      return { line, message: `${tagName}: ${cutText(long[0], 40)} is longer than ${MAX_VALUE} characters` }
    }
    if (tagName === 'mj-font' && !/^[\w -]{1,60}$/.test(String(attributes.name))) {
      return { line, message: 'the name of a font must have 1 to 60 letters, digits, spaces and hyphens' }
    }
    for (const child of children) open.push(child)
  }
  return null
}

const isLong = (value: string | boolean) => typeof value === 'string' && value.length > MAX_VALUE

/** Index of the first piece of Liquid that the html does not contain; null if it has all. */
function lostPiece({ pieces, word }: Masked, html: string): number | null {
  const kept = new Set<number>()
  for (const [, index] of html.matchAll(word)) kept.add(Number(index))
  const lost = pieces.findIndex((_, index) => !kept.has(index))
  return lost === -1 ? null : lost
}

function startOfLine(text: string, line: number): number {
  let start = 0
  for (let number = 1; number < line; number++) start = text.indexOf('\n', start) + 1
  return start
}

function refusal(field: string, message: string, line: number | null): Refusal {
  const place = line === null ? '' : ` at line ${line}`
  const faults = [{ field, message: `${field} is not valid MJML${place}: ${message}` }]
  return new Refusal('validation_error', invalid(faults).message, { field, faults, details: { line, column: null } })
}
