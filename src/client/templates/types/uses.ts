import {
  AssignTag,
  CaptureTag,
  CaseTag,
  DecrementTag,
  EchoTag,
  ForTag,
  IfTag,
  IncrementTag,
  type Template as Node,
  Output,
  TablerowTag,
  type Token,
  TokenKind,
  UnlessTag,
} from 'liquidjs'
import type { ParsedTemplate, TemplateField, TemplateParts } from '../../../sending/submission/render.ts'
import { RenderTag } from '../../../sending/submission/template-tags.ts'
import { CommandFault } from '../fault.ts'
import { type Guard, guardsOf } from './conditions.ts'
import type { Shape } from './shape.ts'

/** Adds to a shape the variables of all texts of a template, its layout and its partials. Throws CommandFault for a
 *  template with more partials in partials than a message can have. */
export function addUses(root: Shape, template: ParsedTemplate, parts: TemplateParts): void {
  const cost: Cost = { left: MAX_STEPS }
  for (const field of ['subject', 'html', 'text'] as const) {
    const text = template[field]
    if (text === null) continue
    const frame = parts.layout?.[field]
    const walk = (locals: Map<string, Local>) => new Walk({ root, field, partials: parts.partials, cost }, locals, 0)
    walk(new Map()).visit(text.nodes, [])
    if (frame) walk(new Map([['content', null]])).visit(frame.nodes, [])
  }
}

/** A name that the template sets itself: what it stands for, or null for a value that it computes. */
type Local = Shape | null

interface Cost {
  left: number
}

interface Texts {
  root: Shape
  field: TemplateField
  partials: TemplateParts['partials']
  cost: Cost
}

/** Tags and outputs, those of partials counted at each use. A message can render fewer. */
const MAX_STEPS = 200_000
/** As when a message is rendered. */
const MAX_PARTIALS_DEEP = 8

/** How a value is used. A strict use refuses a message without the value. */
interface Use {
  guards: Guard[]
  isStrict: boolean
  as: 'text' | 'list' | 'any'
}

interface Expression {
  postfix: readonly Token[]
  filters: readonly { name: string; args: readonly unknown[] }[]
}

/** One text, with the names that it sets. */
class Walk {
  readonly #texts: Texts
  readonly #locals: Map<string, Local>
  readonly #depth: number

  constructor(texts: Texts, locals: Map<string, Local>, depth: number) {
    this.#texts = texts
    this.#locals = locals
    this.#depth = depth
  }

  visit(nodes: readonly Node[], guards: Guard[]): void {
    for (const node of nodes) {
      if (--this.#texts.cost.left < 0) throw new CommandFault('a template renders too many partials in partials')
      this.#visit(node, guards)
    }
  }

  #visit(node: Node, guards: Guard[]): void {
    const strict: Use = { guards, isStrict: true, as: 'text' }
    if (node instanceof Output || node instanceof EchoTag) this.#arguments(node, strict)
    else if (node instanceof ForTag || node instanceof TablerowTag) this.#loop(node, guards)
    else if (node instanceof IfTag || node instanceof UnlessTag) this.#branches(node, guards)
    else if (node instanceof CaseTag) {
      const tested: Use = { guards, isStrict: false, as: 'text' }
      this.#value(node.value, tested)
      for (const { values, templates } of node.branches) {
        for (const each of values) this.#value(each, tested)
        this.visit(templates, [...guards, 'other'])
      }
      this.visit(node.elseTemplates, [...guards, 'other'])
    } else if (node instanceof AssignTag) {
      // Private in the library's types.
      const { key, value } = node as unknown as { key: string; value: unknown }
      const shape = this.#value(value, { ...strict, as: 'any' })
      // After a condition, it may stand for something else.
      this.#locals.set(key, guards.length === 0 ? shape : null)
    } else if (node instanceof RenderTag) this.#partial(node, guards)
    else {
      this.#arguments(node, strict)
      const { templates } = node as { templates?: Node[] }
      if (templates !== undefined) this.visit(templates, guards)
      if (node instanceof CaptureTag || node instanceof IncrementTag || node instanceof DecrementTag) {
        this.#locals.set((node as unknown as { variable: string }).variable, null)
      }
    }
  }

  #arguments(node: Node, use: Use): void {
    for (const each of node.arguments?.() ?? []) this.#value(each, use)
  }

  /** A list has items as a rule: what its loop needs from outside, the message needs. */
  #loop(node: ForTag | TablerowTag, guards: Guard[]): void {
    const [collection, ...modifiers] = node.arguments()
    const list = this.#value(collection, { guards, isStrict: true, as: 'list' })
    for (const each of modifiers) this.#value(each, { guards, isStrict: true, as: 'text' })
    const inner: [string, Local][] = [
      [node.variable, list?.items() ?? null],
      ['forloop', null],
      ['tablerowloop', null],
    ]
    const before = inner.map(([name]) => [name, this.#locals.get(name)] as const)
    for (const [name, local] of inner) this.#locals.set(name, local)
    this.visit(node.templates, guards)
    for (const [name, local] of before) {
      if (local === undefined) this.#locals.delete(name)
      else this.#locals.set(name, local)
    }
    if (node instanceof ForTag) this.visit(node.elseTemplates, [...guards, 'other'])
  }

  #branches(node: IfTag | UnlessTag, guards: Guard[]): void {
    const use: Use = { guards, isStrict: false, as: 'any' }
    for (const [at, { value, templates }] of node.branches.entries()) {
      this.#value(value, use)
      const held = guardsOf(value.initial.postfix, (token) => this.#path(token, use))
      const isPlain = at === 0 && node instanceof IfTag && value.filters.length === 0
      this.visit(templates, [...guards, ...(isPlain ? held : (['other'] as const))])
    }
    this.visit(node.elseTemplates ?? [], [...guards, 'other'])
  }

  #partial(node: RenderTag, guards: Guard[]): void {
    const values = [...node.arguments()].map((each) => this.#value(each, { guards, isStrict: true, as: 'any' }))
    const text = this.#texts.partials.get(node.alias)?.[this.#texts.field] ?? null
    if (text === null || this.#depth === MAX_PARTIALS_DEEP) return
    const given = new Map(node.given.map((name, at): [string, Local] => [name, values[at] ?? null]))
    new Walk(this.#texts, given, this.#depth + 1).visit(text.nodes, guards)
  }

  /** A value with its filters → the variable that it is, if it is one and nothing else. */
  #value(value: unknown, use: Use): Shape | null {
    const { postfix, filters } = expressionOf(value)
    const names = filters.map(({ name }) => name)
    const isDefault = names[0] === 'default'
    const filter = names[isDefault ? 1 : 0] ?? ''
    const own: Use = {
      ...use,
      isStrict: use.isStrict && !isDefault,
      as: LISTS.has(filter) ? 'list' : ANYTHING.has(filter) ? 'any' : use.as,
    }
    const isComparison = postfix.length > 1
    const shapes = postfix.map((token) => this.#token(token, isComparison ? { ...own, as: 'any' } : own))
    for (const { args } of filters) {
      for (const each of args) {
        const argument = Array.isArray(each) ? each[1] : each
        if (argument !== undefined) this.#value(argument, { ...use, isStrict: true, as: 'any' })
      }
    }
    const [only = null] = shapes
    if (shapes.length !== 1 || only === null) return null
    if (BY_FIELD.has(filter)) this.#itemField(only, filters[isDefault ? 1 : 0]!.args[0])
    return filters.length === 0 ? only : null
  }

  /** `map: "title"` says that the items have a title. */
  #itemField(list: Shape, argument: unknown): void {
    if (typeof argument !== 'object' || argument === null || !('kind' in argument)) return
    if (argument.kind !== TokenKind.Quoted || !('content' in argument)) return
    list.items()?.field(String(argument.content))
  }

  #token(token: Token, use: Use): Shape | null {
    if (token.kind === TokenKind.PropertyAccess) return this.#path(token, use)
    if (token.kind === TokenKind.Range) {
      const { lhs, rhs } = token as Token & { lhs: unknown; rhs: unknown }
      for (const each of [lhs, rhs]) this.#value(each, { ...use, as: 'text' })
    } else if (token.kind === TokenKind.FilteredValue) return this.#value(token, use)
    return null
  }

  /** A path such as `order.lines[0].title` → its shape, with what this use shows about it. Null for what the template
   *  computes. */
  #path(token: Token, { guards, isStrict, as }: Use): Shape | null {
    const { variable, props } = token as Token & { variable?: unknown; props: readonly Token[] }
    if (variable !== undefined) return null
    let at: Local = this.#texts.root
    // What has the keys, where the rest of the path is not known.
    let last: Shape = this.#texts.root
    for (const [index, prop] of props.entries()) {
      const name = nameOf(prop)
      if (name === null) this.#value(prop, { guards, isStrict: true, as: 'text' })
      if (at === null) continue
      last = at
      const local: Local | undefined = index === 0 && name !== null ? this.#locals.get(name) : undefined
      if (local !== undefined) at = local
      else if (index === 0 && name === null) at = null
      else at = stepped(at, prop, name)
    }
    if (at === null) {
      if (isStrict) require(last, guards)
      return null
    }
    const target = at.parent?.fields.get('size') === at ? at.parent : at
    if (as === 'text' && target === at) at.evidence.add('text')
    else if (as === 'list') at.items()
    if (isStrict) require(at, guards)
    return target
  }
}

function expressionOf(value: unknown): Expression {
  const given = value as { initial?: { postfix: readonly Token[] }; filters?: Expression['filters'] }
  if (given.initial === undefined) return { postfix: [value as Token], filters: [] }
  return {
    postfix: given.initial.postfix.filter(({ kind }) => kind !== TokenKind.Operator),
    filters: given.filters ?? [],
  }
}

/** The name of one step; null for an index, and for a name that another variable holds. */
function nameOf(prop: Token): string | null {
  const isName = prop.kind === TokenKind.Word || prop.kind === TokenKind.Quoted
  return isName ? String((prop as Token & { content: unknown }).content) : null
}

function stepped(at: Shape, prop: Token, name: string | null): Shape | null {
  if (name !== null) return at.field(name)
  if (prop.kind === TokenKind.Number) return at.items()
  at.evidence.add('keys')
  return null
}

/** Marks a value and what it is part of as required, each where the guards say no more than that its parent exists. */
function require(shape: Shape, guards: readonly Guard[]): void {
  for (let at = shape; at.parent !== null; at = at.parent) {
    const { parent } = at
    if (guards.every((guard) => guard !== 'other' && guard.contains(parent))) at.isRequired = true
  }
}

const LISTS = new Set(
  'compact concat find find_index has join map reject reverse sort sort_natural sum uniq where'.split(' '),
)
/** Filters of lists whose first argument is a field of the items. */
const BY_FIELD = new Set('find find_index has map reject sort sort_natural sum uniq where'.split(' '))
const ANYTHING = new Set('first json jsonify last raw size slice to_integer'.split(' '))
