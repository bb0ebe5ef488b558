import {
  Context,
  defaultOperators,
  type Emitter,
  type FilterImplOptions,
  type Liquid,
  type Template as Node,
  type Operators,
  toValue,
  toValueSync,
} from 'liquidjs'
import { Escaped, plainOf } from './template-escaped.ts'

/** Cost limits of templates. A template is a program by a tenant that may run beside other work, so everything it does
 *  is charged to one budget, in characters: reading, creating and writing cost their length, each step a hundred.
 *  Unlike a time limit, the cost of a template and its variables is the same on every machine and under any load.
 *  Liquid's own memory limit omits most filters; what it counts is charged here too. */

/** About 50 ms and 40 MB for the worst template found; a long newsletter with a table of 500 rows needs a tenth. */
export const WORK = 10_000_000
/** A tag or output, a variable lookup, an array element, a filter. */
const STEP = 100
/** Dates need calendar computations. */
const COSTLY = new Map([
  ['date', 50 * STEP],
  ['date_to_xmlschema', 50 * STEP],
  ['date_to_rfc822', 50 * STEP],
  ['date_to_string', 50 * STEP],
  ['date_to_long_string', 50 * STEP],
])
/** Longest filter argument that is not added to the text: some filters search it at every position. */
const MAX_ARGUMENT = 256
/** Filters of which some arguments become part of the result, from that argument on. */
const ADDING = new Map([
  ['append', 0],
  ['prepend', 0],
  ['concat', 0],
  ['default', 0],
  ['replace', 1],
  ['replace_first', 1],
  ['replace_last', 1],
])
/** Removed: they parse text as a program, create arrays that contain themselves many times (small in memory, endless to
 *  write), or differ at every run. */
const UNAVAILABLE = /_exp$|^(?:group_by|push|unshift|inspect|sample)$/

/** A work budget shared by several renders. */
export interface WorkBudget {
  left: number
}

/** Charges the budget with everything the context uses, and stops once it is exhausted. */
export function chargeTo(workBudget: WorkBudget, { memoryLimit }: Context): void {
  const use = memoryLimit.use.bind(memoryLimit)
  memoryLimit.use = (count) => {
    workBudget.left -= count
    if (workBudget.left < 0) throw new Error('the messages of this batch exceed their shared rendering budget')
    use(count)
  }
}

/** What all contexts of one text share. */
export interface Surrounding {
  /** The variables of the message. */
  variables: Record<string, unknown>
  /** Alias → the parsed nodes of the partial; throws if there are none. */
  partial: (alias: string) => Node[]
}

/** Nesting depth of partials. */
const MAX_PARTIAL_DEPTH = 8

/** Liquid's context for one render. Every variable lookup costs a step, and an array also its length, because tags
 *  compare arrays without charging. */
export class BoundedContext extends Context {
  surrounding: Surrounding = { variables: {}, partial: noPartial }
  #depth = 0

  override spawn(scope: object = {}): BoundedContext {
    const { opts, sync, globals, strictVariables, ownPropertyOnly, memoryLimit, renderLimit, liquid } = this
    const options = { sync, globals, strictVariables, ownPropertyOnly }
    const spawned = new BoundedContext(scope, opts, options, { memoryLimit, renderLimit, liquid })
    spawned.surrounding = this.surrounding
    spawned.#depth = this.#depth
    return spawned
  }

  /** Alias and values → the partial and a context with the variables of the message and these values. Throws when
   *  partials are nested too deeply, as in a cycle. */
  enter(alias: string, values: Record<string, unknown>): { nodes: Node[]; inner: BoundedContext } {
    const { variables, partial } = this.surrounding
    if (this.#depth === MAX_PARTIAL_DEPTH) throw new Error(`partials are nested more than ${MAX_PARTIAL_DEPTH} deep`)
    this.memoryLimit.use(STEP * (Object.keys(variables).length + Object.keys(values).length))
    const inner = this.spawn(Object.assign(Object.create(null), variables, values))
    inner.#depth++
    return { nodes: partial(alias), inner }
  }

  override readProperty(...[of, key]: Parameters<Context['readProperty']>): unknown {
    // Texts have properties too: their size. The library's type omits them.
    const from = of instanceof Escaped ? (of.text as unknown as typeof of) : of
    const value = super.readProperty(from, key instanceof Escaped ? key.text : key)
    this.memoryLimit.use(Array.isArray(value) ? STEP + value.length : STEP)
    return value
  }
}

function noPartial(alias: string): never {
  throw new Error(`there is no partial ${alias}`)
}

/** Writes template values as text and charges the context for it. */
class BoundedEmitter implements Emitter {
  buffer = ''
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  write(value: unknown): void {
    this.buffer += spell(value, this.#context)
  }
}

/** Value → its text as Liquid writes it: '' for nil, the elements of an array in sequence. */
export function spell(value: unknown, context: Context): string {
  charge(value, context)
  return textOf(value)
}

/** Charges every filter of the engine for its input and output, and every block for its steps. */
export function boundWork(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    if (filter === undefined) continue
    if (UNAVAILABLE.test(name)) liquid.unregisterFilter(name)
    else if (typeof filter === 'function') liquid.registerFilter(name, paidFilter(name, filter))
    else liquid.registerFilter(name, { raw: filter.raw, handler: paidFilter(name, filter.handler) })
  }
  const { renderer } = liquid
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (templates, context, emitter = new BoundedEmitter(context)) => {
    context.memoryLimit.use(STEP * (templates.length + 1))
    return renderTemplates(templates, context, emitter)
  }
}

/** Comparisons that charge both sides. */
export const boundOperators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, compare]) => [name, paidOperator(name, compare)]),
)

type FilterHandler = Extract<FilterImplOptions, (...values: never[]) => unknown>
type OperatorHandler = Operators[string]

function paidFilter(name: string, apply: FilterHandler): FilterHandler {
  const addsFrom = ADDING.get(name) ?? Number.POSITIVE_INFINITY
  const price = COSTLY.get(name) ?? 2 * STEP
  return function (value, ...given) {
    const { context } = this
    context.memoryLimit.use(price)
    charge(value, context)
    for (const [index, argument] of given.entries()) {
      if (index < addsFrom) requireShort(argument, name)
      else charge(argument, context)
    }
    const made = leniently(context, () => toValueSync(apply.call(this, value, ...given)))
    charge(made, context)
    return made
  }
}

/** Filters that look into objects treat a missing property as nil: checking for it is their purpose. */
function leniently<T>(context: Context, look: () => T): T {
  const { strictVariables } = context
  context.strictVariables = false
  try {
    return look()
  } finally {
    context.strictVariables = strictVariables
  }
}

function paidOperator(name: string, compare: OperatorHandler): OperatorHandler {
  return function* (this: unknown, ...operands: unknown[]): Generator<unknown, boolean, boolean> {
    const context = operands.at(-1)
    if (context instanceof Context) for (const operand of operands.slice(0, -1)) charge(operand, context)
    if (name === 'contains') requireShort(operands[1], name)
    return yield Reflect.apply(compare, this, operands.map(plainOf))
  }
}

/** An argument may be `["key", value]`, a named one. */
function requireShort(argument: unknown, name: string): void {
  const value = Array.isArray(argument) && argument.length === 2 ? argument[1] : argument
  const isShort = typeof value === 'string' ? value.length <= MAX_ARGUMENT : !Array.isArray(value)
  if (!isShort) throw new Error(`${name} accepts no argument of more than ${MAX_ARGUMENT} characters, and no array`)
}

function charge(value: unknown, context: Context): void {
  const limit = context.memoryLimit
  if (typeof value === 'string') limit.use(value.length)
  else if (value instanceof Escaped) limit.use(value.text.length)
  else if (Array.isArray(value)) {
    for (const element of value) {
      limit.use(STEP)
      charge(element, context)
    }
  } else if (typeof value === 'object' && value !== null && isPlain(value)) {
    for (const key of Object.keys(value)) {
      limit.use(STEP + key.length)
      charge(value[key], context)
    }
  }
}

/** Liquid's own objects (`forloop`, `empty`) are small. */
function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const NO_TEXT = 'an object cannot be output as text: use one of its fields, or the json filter'

function textOf(given: unknown): string {
  const value = toValue(given) // `nil`, `empty` and `blank` are objects of Liquid
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  if (typeof value === 'object' && !(value instanceof Escaped)) throw new Error(NO_TEXT)
  return String(value)
}
