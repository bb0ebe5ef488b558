import { Context, defaultOperators, type Emitter, filters, type Liquid, type Operators, toValueSync } from 'liquidjs'

/** What a template may cost. A template is somebody's program and runs on the thread that does everything else, so all
 *  it does is paid for from one budget, in characters: what is read, made and written counts its length, each step a
 *  hundred. The same template with the same variables costs the same on every machine and under every load, which a time
 *  limit does not. Liquid has a memory limit of its own but does not count most of its filters; what it counts goes the
 *  same way. */

/** Some 50 ms of the worst that was found, and some 40 MB; a long newsletter with a table of 500 rows needs a tenth. */
export const WORK = 10_000_000
/** A tag or output, a look at a variable, an element of an array, a filter. */
const STEP = 100
/** Dates ask for a calendar. */
const COSTLY = new Map([
  ['date', 50 * STEP],
  ['date_to_xmlschema', 50 * STEP],
  ['date_to_rfc822', 50 * STEP],
  ['date_to_string', 50 * STEP],
  ['date_to_long_string', 50 * STEP],
])
/** Longest argument of a filter that does not add it to the text: some are searched for at every place. */
const MAX_ARGUMENT = 256
/** Filters some of whose arguments become part of what they make, from that argument on. */
const ADDING = new Map([
  ['append', 0],
  ['prepend', 0],
  ['concat', 0],
  ['default', 0],
  ['replace', 1],
  ['replace_first', 1],
  ['replace_last', 1],
])
/** Left out: they parse text as a program, or make arrays that hold themselves many times over (what is small to keep is
 *  then endless to write), or differ at every run. */
const UNAVAILABLE = /_exp$|^(?:group_by|push|unshift|inspect|sample)$/

/** What several renders may cost together. */
export interface Purse {
  left: number
}

/** All that the context pays is taken out of the purse as well; nothing goes on once it is empty. */
export function payFrom(purse: Purse, { memoryLimit }: Context): void {
  const use = memoryLimit.use.bind(memoryLimit)
  memoryLimit.use = (count) => {
    purse.left -= count
    if (purse.left < 0) throw new Error('together the messages of the batch do more work than a batch may take')
    use(count)
  }
}

/** What Liquid knows about the render that is going on. Every look at a variable is a step, and at an array one of its
 *  length, because tags compare arrays without asking. */
export class BoundedContext extends Context {
  override spawn(scope: object = {}): Context {
    const { opts, sync, globals, strictVariables, ownPropertyOnly, memoryLimit, renderLimit, liquid } = this
    const options = { sync, globals, strictVariables, ownPropertyOnly }
    return new BoundedContext(scope, opts, options, { memoryLimit, renderLimit, liquid })
  }

  override readProperty(...[of, key]: Parameters<Context['readProperty']>): unknown {
    const value = super.readProperty(of, key)
    this.memoryLimit.use(Array.isArray(value) ? STEP + value.length : STEP)
    return value
  }
}

/** Writes a value of a template as text and lets the context pay for it. */
export class BoundedEmitter implements Emitter {
  buffer = ''
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  write(value: unknown): void {
    this.buffer += spell(value, this.#context)
  }
}

/** Value → its text as Liquid writes it: nothing for nil, the elements of an array one after the other. */
export function spell(value: unknown, context: Context): string {
  pay(value, context)
  return textOf(value)
}

/** Makes every filter of the engine pay for what it is given and what it makes, and every block for its steps. */
export function boundWork(liquid: Liquid): void {
  for (const [name, filter] of Object.entries(filters)) {
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

/** Comparisons that pay for both sides. */
export const boundOperators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, compare]) => [name, paidOperator(name, compare)]),
) as Operators

// biome-ignore lint/suspicious/noExplicitAny: filters and operators take values of every kind
type Apply = (this: any, ...values: any[]) => unknown

function paidFilter(name: string, apply: Apply): Apply {
  const addsFrom = ADDING.get(name) ?? Number.POSITIVE_INFINITY
  const price = COSTLY.get(name) ?? 2 * STEP
  return function (value, ...given) {
    const context = this.context as Context
    context.memoryLimit.use(price)
    pay(value, context)
    for (const [index, argument] of given.entries()) {
      if (index < addsFrom) requireShort(argument, name)
      else pay(argument, context)
    }
    const made = leniently(context, () => toValueSync(apply.call(this, value, ...given)))
    pay(made, context)
    return made
  }
}

/** Filters that look into objects take a missing property for nil: that some have it is what they are asked. */
function leniently<T>(context: Context, look: () => T): T {
  const { strictVariables } = context
  context.strictVariables = false
  try {
    return look()
  } finally {
    context.strictVariables = strictVariables
  }
}

function paidOperator(name: string, compare: Apply): Apply {
  return function* (...operands): Generator<unknown, unknown, unknown> {
    const context = operands.at(-1)
    if (context instanceof Context) for (const operand of operands.slice(0, -1)) pay(operand, context)
    if (name === 'contains') requireShort(operands[1], name)
    return yield compare.apply(this, operands)
  }
}

/** An argument may be `["key", value]`: a named one. */
function requireShort(argument: unknown, name: string): void {
  const value = Array.isArray(argument) && argument.length === 2 ? argument[1] : argument
  const isShort = typeof value === 'string' ? value.length <= MAX_ARGUMENT : !Array.isArray(value)
  if (!isShort) throw new Error(`${name} takes no argument of more than ${MAX_ARGUMENT} characters, and no array`)
}

function pay(value: unknown, context: Context): void {
  const limit = context.memoryLimit
  if (typeof value === 'string') limit.use(value.length)
  else if (Array.isArray(value)) {
    for (const element of value) {
      limit.use(STEP)
      pay(element, context)
    }
  } else if (typeof value === 'object' && value !== null && isPlain(value)) {
    for (const key of Object.keys(value)) {
      limit.use(STEP + key.length)
      pay((value as Record<string, unknown>)[key], context)
    }
  }
}

/** Liquid's own objects (`forloop`, `empty`) are small. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const NO_TEXT = 'an object cannot be written as text: name one of its fields, or use the json filter'

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  if (typeof value === 'object' && isPlain(value)) throw new Error(NO_TEXT)
  return String(value)
}
