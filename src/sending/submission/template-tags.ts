import {
  type Arguments,
  AssignTag,
  CaseTag,
  type Context,
  type Emitter,
  evalToken,
  evalTokenValue,
  Hash,
  type Liquid,
  type RangeToken,
  Tag,
  type TagToken,
  Token,
  Tokenizer,
  TokenKind,
  type TopLevelToken,
} from 'liquidjs'
import { aliasFault } from '../../model/template.ts'
import type { BoundedContext } from './template-work.ts'

/** Tags, ranges and positions that replace Liquid's own for untrusted templates. Some replacements apply to the whole
 *  process; only templates use Liquid. */

/** Removes the tags that load files, and replaces others with stricter ones. */
export function boundTags(liquid: Liquid): void {
  liquid.registerTag('render', RenderTag)
  for (const name of ['include', 'layout', 'block']) liquid.registerTag(name, UnavailableTag)
  liquid.registerTag('assign', StrictAssignTag)
  liquid.registerTag('case', PaidCaseTag)
  liquid.registerTag('#', InlineCommentTag)
}

class UnavailableTag extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    throw new Error(`tag "${token.name}" is not available: use {% render "alias" %}, or the field layout`)
  }

  render(): void {}
}

/** `{% render "alias", name: value %}`: the partial with that alias. It has the variables of the message and the given
 *  ones, but not those that the template assigned. */
export class RenderTag extends Tag {
  readonly alias: string
  readonly given: string[]
  readonly #hash: Hash
  readonly #values: unknown[]

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    this.alias = this.tokenizer.readQuoted()?.content ?? ''
    if (aliasFault(this.alias) !== null) throw new Error('render needs the alias of a partial in quotes')
    this.#hash = new Hash(this.tokenizer)
    this.tokenizer.skipBlank()
    this.#values = Object.values(this.#hash.hash)
    const isRead = this.tokenizer.end() && !this.#values.includes(undefined)
    if (!isRead) throw new Error('after the alias, render accepts only ", name: value"')
    this.given = Object.keys(this.#hash.hash)
  }

  override *render(context: BoundedContext, emitter: Emitter): Generator<unknown, void, unknown> {
    const values = (yield this.#hash.render(context)) as Record<string, unknown>
    const { nodes, inner } = context.enter(this.alias, values)
    yield this.liquid.renderer.renderTemplates(nodes, inner, emitter)
  }

  *arguments(): Arguments {
    for (const value of this.#values) yield value as never // liquidjs does not export the type
  }
}

/** Reports a missing variable; Liquid's own tag silently assigns nil. */
class StrictAssignTag extends AssignTag {
  override *render(context: Context): Generator<unknown, void, unknown> {
    // Private in the library's types.
    const { key, value } = this as unknown as { key: string; value: { value(context: Context): unknown } }
    context.bottom()[key] = yield value.value(context)
  }
}

/** Liquid's own tag finds a line without `#` by a pattern tried at each of many blank lines: 20 seconds for a template
 *  of 247 kB. This one reads each character once. */
class InlineCommentTag extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    for (const line of token.args.split('\n').slice(1)) {
      const text = line.trimStart()
      if (text !== '' && !text.startsWith('#')) {
        throw new Error("every line of an inline comment must start with a '#' character")
      }
    }
  }

  render(): void {}
}

/** Compares with the charged operator. */
class PaidCaseTag extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { renderer, options } = this.liquid
    const isEqual = options.operators['==']!
    const target = yield this.value.value(context, true)
    let isHit = false
    for (const { values, templates } of this.branches) {
      for (const token of values) {
        const value = yield evalToken(token, context, true)
        if (!(yield (isEqual as (...operands: unknown[]) => unknown)(target, value, context))) continue
        isHit = true
        yield renderer.renderTemplates(templates, context, emitter)
        break
      }
    }
    if (!isHit) yield renderer.renderTemplates(this.elseTemplates, context, emitter)
  }
}

/** Largest bound of a range. Beyond 2^53, adding one has no effect and Liquid loops forever. */
const MAX_COUNT = 100_000

const readGroupOrRange = Tokenizer.prototype.readGroupOrRange
Tokenizer.prototype.readGroupOrRange = function () {
  const read = readGroupOrRange.call(this)
  if (!isRange(read)) return read
  return Object.assign(read, { lhs: boundOf(read.lhs), rhs: boundOf(read.rhs) })
}

function isRange(token: ReturnType<typeof readGroupOrRange>): token is RangeToken {
  return token?.kind === TokenKind.Range
}

/** One end of a range → the same value, refused if too large. Shaped as a value with filters, which has its own
 *  evaluation and works with the analysis of variables. */
function boundOf<T>(token: T): T {
  function* evaluate(context: Context, lenient?: boolean): Generator<unknown, number, unknown> {
    const value = Number(yield evalTokenValue(token as never, context, lenient)) || 0
    if (Math.abs(value) <= MAX_COUNT) return value
    throw new Error(`a range must be between ${-MAX_COUNT} and ${MAX_COUNT}`)
  }
  return { kind: TokenKind.FilteredValue, initial: { postfix: [token], evaluate }, filters: [] } as T
}

/** Line and column of a token, from 1. Liquid's own counts from the start of the text for each variable found: 45
 *  seconds for 90,000 of them. */
Token.prototype.getPosition = function () {
  if (lines.input !== this.input) lines = { input: this.input, starts: lineStarts(this.input) }
  let line = 0
  for (let after = lines.starts.length; after - line > 1; ) {
    const middle = (line + after) >> 1
    if (lines.starts[middle]! <= this.begin) line = middle
    else after = middle
  }
  return [line + 1, this.begin - lines.starts[line]! + 1]
}

/** Line starts of the last text. */
let lines: { input: string; starts: number[] } = { input: '', starts: [0] }

function lineStarts(input: string): number[] {
  const starts = [0]
  for (let at = input.indexOf('\n'); at !== -1; at = input.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
