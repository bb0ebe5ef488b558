/** Source text → every regular expression that it constructs. Pure: the pattern check reads the files. */
import { parse } from '@babel/parser'

/** One regular expression as the engine gets it. */
export interface Pattern {
  readonly source: string
  readonly flags: string
  /** From 1. */
  readonly line: number
}

/** A pattern that depends on something outside the source. */
export interface Unclear {
  /** The unreadable part, as written. */
  readonly expression: string
  readonly line: number
}

export interface Extracted {
  readonly patterns: Pattern[]
  readonly unclear: Unclear[]
}

/** The values of an expression that its file does not determine: `name` → ['script', 'style']. */
export type Stands = (expression: string) => readonly string[] | undefined

/** The constants of another file of the same source tree, by the specifier it is imported with; undefined for none. */
export type ConstantsOf = (specifier: string) => Map<string, Node> | undefined

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly loc: { readonly start: { readonly line: number } }
  readonly [key: string]: unknown
}

/** Source text, TypeScript or JavaScript → its tree. Throws a SyntaxError for any other text. */
export function treeOf(file: string, text: string): Node {
  const isTypeScript = /\.[cm]?tsx?$/.test(file)
  const plugins: ('typescript' | 'jsx')[] = isTypeScript ? ['typescript'] : []
  if (!isTypeScript || file.endsWith('x')) plugins.push('jsx')
  const options = { plugins, sourceType: 'unambiguous', allowReturnOutsideFunction: true, errorRecovery: true } as const
  return parse(text, options).program as unknown as Node
}

/** Tree → its regular expressions: literals, `new RegExp(…)` and `RegExp(…)` of texts, templates, `String.raw`,
 *  sums, joined lists, `.source` of others and constants of this file or its imports, and texts that `match`,
 *  `matchAll` and `search` use as patterns. */
export function patternsOf(
  tree: Node,
  text: string,
  stands: Stands = () => undefined,
  imported: ConstantsOf = () => undefined,
): Extracted {
  const patterns: Pattern[] = []
  const unclear: Unclear[] = []
  const reader = createReader(text, constantsOf(tree), importsOf(tree), stands, imported)
  walk(tree, (node) => {
    const line = node.loc.start.line
    if (node.type === 'RegExpLiteral') {
      patterns.push({ source: String(node.pattern), flags: String(node.flags), line })
      return
    }
    const made = madeFrom(node)
    if (made === null) return
    // A copy of a literal is found at the literal.
    if (made.source.type === 'RegExpLiteral' && made.flags === undefined) return
    const sources = reader.valuesOf(made.source)
    const flags = made.flags === undefined ? [''] : reader.valuesOf(made.flags)
    if ('unclear' in sources) unclear.push({ expression: sources.unclear, line })
    else if ('unclear' in flags) unclear.push({ expression: flags.unclear, line })
    else for (const source of sources) for (const flag of flags) patterns.push({ source, flags: flag, line })
  })
  return { patterns, unclear }
}

/** Tree → initial values of its constants with one name: `const A = …`, anywhere. */
export function constantsOf(tree: Node): Map<string, Node> {
  const constants = new Map<string, Node>()
  walk(tree, (node) => {
    const { id, init } = node as { id?: Node | null; init?: Node | null }
    if (node.type !== 'VariableDeclarator' || id?.type !== 'Identifier' || !init) return
    const name = String(id.name)
    // Two constants with one name are ambiguous.
    constants.set(name, constants.has(name) ? { ...init, type: 'Ambiguous' } : init)
  })
  return constants
}

/** Calls `visit` for each node, parents first. */
export function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void, parents: Node[] = []): void {
  visit(node, parents)
  parents.push(node)
  for (const [key, value] of Object.entries(node)) {
    if (SKIPPED.has(key) || typeof value !== 'object' || value === null) continue
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) walk(each, visit, parents)
  }
  parents.pop()
}

const SKIPPED = new Set(['loc', 'extra', 'leadingComments', 'trailingComments', 'innerComments', 'errors'])
const TAKES_PATTERNS = new Set(['match', 'matchAll', 'search'])

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** The expressions that a call turns into a pattern; null for any other node. */
function madeFrom(node: Node): { source: Node; flags?: Node } | null {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return null
  const callee = node.callee as Node
  const [source, flags] = node.arguments as Node[]
  if (source === undefined) return null
  if (callee.type === 'Identifier' && callee.name === 'RegExp') return { source, flags }
  const method = (callee.property as Node | undefined)?.name
  const isText = source.type === 'StringLiteral' || source.type === 'TemplateLiteral'
  return callee.type === 'MemberExpression' && TAKES_PATTERNS.has(String(method)) && isText ? { source } : null
}

function importsOf(tree: Node): Map<string, { specifier: string; name: string }> {
  const imports = new Map<string, { specifier: string; name: string }>()
  for (const node of (tree.body ?? []) as Node[]) {
    if (node.type !== 'ImportDeclaration') continue
    for (const each of node.specifiers as Node[]) {
      const name = String((each.imported as Node | undefined)?.name ?? '')
      imports.set(String((each.local as Node).name), { specifier: String((node.source as Node).value), name })
    }
  }
  return imports
}

type Values = string[] | { unclear: string }

const MOST_VALUES = 1_000

function createReader(
  text: string,
  constants: Map<string, Node>,
  imports: Map<string, { specifier: string; name: string }>,
  stands: Stands,
  imported: ConstantsOf,
) {
  const written = (node: Node) => text.slice(node.start, node.end)

  const combined = (parts: Values[]): Values => {
    let made = ['']
    for (const part of parts) {
      if ('unclear' in part) return part
      made = made.flatMap((each) => part.map((value) => each + value))
      if (made.length > MOST_VALUES) return { unclear: `more than ${MOST_VALUES} patterns` }
    }
    return made
  }

  const templateOf = (node: Node, isRaw: boolean, depth: number): Values => {
    const quasis = node.quasis as { value: { raw: string; cooked: string } }[]
    const expressions = node.expressions as Node[]
    const parts = quasis.flatMap(({ value }, index) => {
      const piece: Values = [isRaw ? value.raw : value.cooked]
      const next = expressions[index]
      return next === undefined ? [piece] : [piece, valuesOf(next, depth + 1)]
    })
    return combined(parts)
  }

  const identifier = (node: Node, depth: number): Values => {
    const name = String(node.name)
    const own = constants.get(name)
    if (own !== undefined && own.type !== 'Ambiguous') return valuesOf(own, depth + 1)
    const from = imports.get(name)
    const other = from && imported(from.specifier)?.get(from.name)
    // Constants of other files must be plain values; others are unclear.
    if (other?.type === 'StringLiteral' || other?.type === 'NumericLiteral') return [String(other.value)]
    return { unclear: written(node) }
  }

  const joined = (node: Node, depth: number): Values => {
    const callee = node.callee as Node
    const list = callee.object as Node | undefined
    const isJoin = callee.type === 'MemberExpression' && (callee.property as Node).name === 'join'
    const array = list?.type === 'Identifier' ? constants.get(String(list.name)) : list
    const between = (node.arguments as Node[])[0]
    if (!isJoin || array?.type !== 'ArrayExpression' || between === undefined) return { unclear: written(node) }
    const separator = valuesOf(between, depth + 1)
    const elements = (array.elements as Node[]).map((each) => valuesOf(each, depth + 1))
    return combined(elements.flatMap((each, index) => (index === 0 ? [each] : [separator, each])))
  }

  function valuesOf(node: Node, depth = 0): Values {
    const said = stands(written(node))
    if (said !== undefined) return [...said]
    if (depth > 20) return { unclear: written(node) }
    switch (node.type) {
      case 'StringLiteral':
      case 'NumericLiteral':
        return [String(node.value)]
      case 'RegExpLiteral':
        return [String(node.pattern)]
      case 'TemplateLiteral':
        return templateOf(node, false, depth)
      case 'TaggedTemplateExpression':
        return written(node.tag as Node) === 'String.raw'
          ? templateOf(node.quasi as Node, true, depth)
          : { unclear: written(node) }
      case 'BinaryExpression':
        return node.operator === '+'
          ? combined([valuesOf(node.left as Node, depth + 1), valuesOf(node.right as Node, depth + 1)])
          : { unclear: written(node) }
      case 'ConditionalExpression': {
        const sides = [valuesOf(node.consequent as Node, depth + 1), valuesOf(node.alternate as Node, depth + 1)]
        const unclear = sides.find((side) => 'unclear' in side)
        return unclear ?? (sides as string[][]).flat()
      }
      case 'MemberExpression':
        return (node.property as Node).name === 'source'
          ? valuesOf(node.object as Node, depth + 1)
          : { unclear: written(node) }
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'ParenthesizedExpression':
        return valuesOf(node.expression as Node, depth + 1)
      case 'CallExpression':
        return joined(node, depth)
      case 'Identifier':
        return identifier(node, depth)
      default:
        return { unclear: written(node) }
    }
  }

  return { valuesOf }
}
