import {
  AssignTag,
  CaseTag,
  type Context,
  type Emitter,
  evalToken,
  evalTokenValue,
  type Liquid,
  type RangeToken,
  Tag,
  type TagToken,
  Token,
  Tokenizer,
  TokenKind,
  type TopLevelToken,
} from 'liquidjs'

/** Tags, ranges and positions where Liquid's own are not for strangers. What cannot be reached otherwise is put in place
 *  for every engine of the process; only templates use one. */

/** Takes away the tags that load other templates, and puts stricter ones in the place of two. */
export function boundTags(liquid: Liquid): void {
  for (const name of ['include', 'render', 'layout', 'block']) liquid.registerTag(name, UnavailableTag)
  liquid.registerTag('assign', StrictAssignTag)
  liquid.registerTag('case', PaidCaseTag)
  liquid.registerTag('#', InlineCommentTag)
}

class UnavailableTag extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    throw new Error(`tag "${token.name}" is not available: a template cannot load another`)
  }

  render(): void {}
}

/** A missing variable is missing here too: Liquid's own assigns nil, and nobody hears of it. */
class StrictAssignTag extends AssignTag {
  override *render(context: Context): Generator<unknown, void, unknown> {
    // Private in the library's types.
    const { key, value } = this as unknown as { key: string; value: { value(context: Context): unknown } }
    context.bottom()[key] = yield value.value(context)
  }
}

/** Liquid's own looks for a line without `#` by a pattern that is tried at each of many blank lines: 20 seconds for a template of
 *  247 kB. Looks at each character once. */
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

/** Compares by the operator, which is paid for. */
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

/** The furthest a range may count. Beyond 2^53 counting up by one stands still, and Liquid counts for ever. */
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

/** One end of a range → the same, refused where it is too far away. In the shape of a value with filters, which brings
 *  its own evaluation and is understood by the analysis of variables. */
function boundOf<T>(token: T): T {
  function* evaluate(context: Context, lenient?: boolean): Generator<unknown, number, unknown> {
    const value = Number(yield evalTokenValue(token as never, context, lenient)) || 0
    if (Math.abs(value) <= MAX_COUNT) return value
    throw new Error(`a range counts from ${-MAX_COUNT} to ${MAX_COUNT} at most`)
  }
  return { kind: TokenKind.FilteredValue, initial: { postfix: [token], evaluate }, filters: [] } as T
}

/** Line and column of a token, from 1. Liquid's own counts from the beginning of the text for each variable that the
 *  analysis finds: 45 seconds for 90,000 of them. */
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

/** Of the text that was asked about last. */
let lines: { input: string; starts: number[] } = { input: '', starts: [0] }

function lineStarts(input: string): number[] {
  const starts = [0]
  for (let at = input.indexOf('\n'); at !== -1; at = input.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
