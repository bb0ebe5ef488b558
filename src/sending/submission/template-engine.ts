import { Liquid, LiquidError, type Template as Node, Output, Parser } from 'liquidjs'
import { cutText } from '../../mail/cut-text.ts'
import { computeDecimals } from './template-arithmetic.ts'
import { dateFaultIn, formatDates } from './template-dates.ts'
import { Escaped } from './template-escaped.ts'
import { escapeOnce, htmlOf } from './template-escaping.ts'
import { boundTags, RenderTag } from './template-tags.ts'
import { BoundedContext, boundOperators, boundWork, chargeTo, spell, WORK, type WorkBudget } from './template-work.ts'

/** The template language: Liquid, with limits on everything an untrusted template can cost. Templates read no files, and
 *  see only the own properties of the variables and only the partials they are given. */

/** One parsed text of a template. */
export interface ParsedText {
  nodes: Node[]
  engine: Liquid
  /** Approximate memory in bytes. */
  weight: number
  /** Names it uses from outside, in order of first use: `user.name`. */
  variables: string[]
  /** The partials it renders, each with the names it gives them, in the order of the text. */
  renders: { alias: string; given: string[] }[]
  /** True for a layout: it uses `content` once, as `{{ content }}`. */
  isFrame: boolean
}

/** The parsed layout and partials that a text uses. */
export interface ParsedParts {
  /** Null without a layout. */
  layout: ParsedText | null
  /** Alias → partial; absent without texts of this kind. */
  partials: ReadonlyMap<string, ParsedText>
}

/** A template fault and its position; lines and columns count from 1. */
export class TemplateFault extends Error {
  readonly line: number | null
  readonly column: number | null
  /** The missing variable, if that is the only fault. */
  readonly variable: string | null

  constructor(message: string, at: { line: number | null; column: number | null; variable: string | null }) {
    super(message)
    this.name = 'TemplateFault'
    this.line = at.line
    this.column = at.column
    this.variable = at.variable
  }
}

/** Longest text, in characters: Gmail clips a mail at 102 KB; the largest known need is a few `data:` images. */
export const MAX_TEXT = 256 * 1024
const MAX_NODES = 5_000
const MAX_EXPRESSION = 20_000
const NODE_BYTES = 1_000 // measured: 900 to 1,300 for an output
/** Nesting depth of blocks and of brackets. */
const MAX_NESTING = 100
const MAX_BRACKETS = 20
/** A backstop behind the work budget, which normally ends first: a shorter time would refuse good mail on a busy
 *  machine. */
const RENDER_MS = 2_000

const HTML = createEngine(htmlOf)
escapeOnce(HTML)
const PLAIN = createEngine(spell)

/** Text → parsed text; with `html`, output is escaped once unless its last filter is `raw`. Throws TemplateFault. */
export function parseText(source: string, kind: 'html' | 'plain'): ParsedText {
  const engine = kind === 'html' ? HTML : PLAIN
  return withTemplateFaults(() => {
    const parser = new BoundedParser(engine)
    const nodes = parser.parse(source)
    const { variables, contentUses } = variablesOf(engine, nodes)
    const weight = source.length + parser.nodes * NODE_BYTES
    const isFrame = parser.contentOutputs === 1 && contentUses === 1
    return { nodes, engine, weight, variables, renders: parser.renders, isFrame }
  })
}

/** Throws TemplateFault for a literal format or time zone of `date` that does not exist. Only new texts need this: in
 *  those that are stored, the format prints as it is written. */
export function requireKnownDates({ nodes }: ParsedText): void {
  const fault = dateFaultIn(nodes)
  if (fault === null) return
  const [line = null, column = null] = fault.node.token.getPosition()
  throw new TemplateFault(fault.message, { line, column, variable: null })
}

/** Renders texts in sequence with shared variables and one budget; also charges a given work budget. Throws
 *  TemplateFault for a missing variable without default, a filter that fails, a missing partial, and an exhausted
 *  budget. */
export function createFilling(
  variables: Record<string, unknown>,
  workBudget?: WorkBudget,
): (text: ParsedText, parts?: ParsedParts) => string {
  let paid: Pick<BoundedContext, 'memoryLimit' | 'renderLimit'> | null = null
  const render = ({ nodes, engine }: ParsedText, own: Record<string, unknown>, partials: ParsedParts['partials']) => {
    // A copy per text, because `increment` writes to it, and without a prototype, so that it has only the given
    // variables.
    const scope = Object.assign(Object.create(null), variables, own)
    const context = new BoundedContext(scope, engine.options, { sync: true }, { ...paid, liquid: engine })
    context.surrounding = { variables, partial: (alias) => nodesOf(alias, partials, engine) }
    if (paid === null && workBudget !== undefined) chargeTo(workBudget, context)
    paid ??= context
    return withTemplateFaults(() => engine.renderSync(nodes, context) as string)
  }
  return (text, { layout, partials } = NO_PARTS) => {
    const body = render(text, {}, partials)
    return layout === null ? body : render(layout, { content: new Escaped(body, body) }, partials)
  }
}

const NO_PARTS: ParsedParts = { layout: null, partials: new Map() }

function nodesOf(alias: string, partials: ParsedParts['partials'], engine: Liquid): Node[] {
  const found = partials.get(alias)
  if (found === undefined) throw new Error(`there is no partial ${alias} with ${engine === HTML ? 'html' : 'text'}`)
  return found.nodes
}

type Write = (value: unknown, context: BoundedContext) => string

function createEngine(write: Write): Liquid {
  const engine = new Liquid({
    outputEscape(this: { context: BoundedContext }, value: unknown) {
      return write(value, this.context)
    },
    operators: boundOperators,
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    templates: {}, // replaces the file system
    parseLimit: MAX_TEXT,
    renderLimit: RENDER_MS,
    memoryLimit: WORK,
    timezoneOffset: 0, // UTC on every machine
    locale: 'en-US',
  })
  boundTags(engine)
  formatDates(engine)
  computeDecimals(engine)
  boundWork(engine)
  return engine
}

class BoundedParser extends Parser {
  #depth = 0
  nodes = 0
  contentOutputs = 0
  readonly renders: ParsedText['renders'] = []

  override parseTokens(tokens: Tokens): Node[] {
    for (const token of tokens) if ('content' in token) requireSimple(String(token.content))
    return super.parseTokens(tokens)
  }

  override parseToken(token: Tokens[number], rest: Tokens): ReturnType<Parser['parseToken']> {
    if (++this.nodes > MAX_NODES) throw new Error(`a template can have at most ${MAX_NODES} tags and outputs`)
    if (++this.#depth > MAX_NESTING) throw new Error(`blocks are nested more than ${MAX_NESTING} deep`)
    try {
      const node = super.parseToken(token, rest)
      if (node instanceof RenderTag) this.renders.push({ alias: node.alias, given: node.given })
      if (node instanceof Output && 'content' in token && token.content.trim() === 'content') this.contentOutputs++
      return node
    } finally {
      this.#depth--
    }
  }
}

type Tokens = Parameters<Parser['parseTokens']>[0]

/** The content between the delimiters of one tag or output. */
function requireSimple(expression: string): void {
  if (expression.length > MAX_EXPRESSION) throw new Error(`a tag can have at most ${MAX_EXPRESSION} characters`)
  let depth = 0
  for (const character of expression) {
    if (character === '[' || character === '(') depth++
    else if (character === ']' || character === ')') depth--
    if (depth > MAX_BRACKETS) throw new Error(`brackets are nested more than ${MAX_BRACKETS} deep`)
  }
}

function variablesOf(engine: Liquid, nodes: Node[]): { variables: string[]; contentUses: number } {
  const { globals } = engine.analyzeSync(nodes, { partials: false })
  const found = Object.values(globals).flat()
  found.sort((a, b) => a.location.row - b.location.row || a.location.col - b.location.col)
  const contentUses = found.filter(({ segments: [root] }) => root === 'content').length
  return { variables: [...new Set(found.map(String))], contentUses }
}

/** Any error inside is the template's fault, a stack overflow included. */
function withTemplateFaults<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { message, originalError, token } = error as LiquidError & { originalError?: { variableName?: string } }
    const [line = null, column = null] = LiquidError.is(error) ? token.getPosition() : []
    const variable = originalError?.variableName ?? null
    throw new TemplateFault(worded(message, variable), { line, column, variable })
  }
}

function worded(message: string, variable: string | null): string {
  if (variable !== null) return `variable ${variable} is missing and has no default`
  if (message.includes(' limit exceeded')) {
    return message.startsWith('parse')
      ? `it is longer than ${MAX_TEXT} characters`
      : 'it exceeds the rendering budget of a message'
  }
  if (/call stack/i.test(message)) return 'it is nested too deeply'
  // An object where a text or number is needed, in the words of the runtime.
  if (/^(?:No default value|Type error)/.test(message)) return 'a filter got a value of an unsupported type'
  const [sentence = ''] = message.split(/, line:\d+, col:\d+/)
  return sentence.length <= MAX_MESSAGE ? sentence : `${cutText(sentence, MAX_MESSAGE)}…`
}

const MAX_MESSAGE = 200
