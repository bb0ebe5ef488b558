import { parse } from '@babel/parser'

/** One small change of a source file: `[start, end)` becomes `text`. */
export interface Mutation {
  file: string
  line: number
  start: number
  end: number
  text: string
  what: string
}

/** TypeScript source → all its mutations: operators, constants, conditions, removed calls, dropped awaits and swapped
 *  arguments, except where the order is without meaning. Types are left alone. */
export function mutationsOf(file: string, source: string): Mutation[] {
  const { program } = parse(source, {
    sourceType: 'module',
    plugins: file.endsWith('.tsx') ? ['typescript', 'jsx'] : ['typescript'],
  })
  const found: Mutation[] = []
  visit(program as unknown as Node, (node) => {
    for (const [at, text] of changesOf(node, source)) {
      const { start, end } = at
      const line = source.slice(0, start).split('\n').length
      found.push({ file, line, start, end, text, what: `${short(source.slice(start, end))} → ${short(text)}` })
    }
  })
  return found
}

type Place = { start: number; end: number }
type Node = Place & { type: string } & Record<string, unknown>

const OPERATORS: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

function changesOf(node: Node, source: string): [Place, string][] {
  const textOf = ({ start, end }: Place) => source.slice(start, end)
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const [left, right] = [node.left as Node, node.right as Node]
      const other = OPERATORS[node.operator as string]
      // A text is concatenated, not added.
      if (other === undefined || [left, right].some(({ type }) => /^(?:String|Template)Literal$/.test(type))) return []
      return [[node, `(${textOf(left)} ${other} ${textOf(right)})`]]
    }
    case 'IfStatement':
    case 'WhileStatement':
    case 'ConditionalExpression': {
      const test = node.test as Node
      return [[test, `!(${textOf(test)})`]]
    }
    case 'NumericLiteral':
      return [[node, String((node.value as number) + 1)]]
    case 'BooleanLiteral':
      return [[node, String(!node.value)]]
    case 'ExpressionStatement': {
      const expression = node.expression as Node
      if (expression.type === 'CallExpression') return [[node, ';']]
      if (expression.type !== 'AwaitExpression') return []
      return [
        [node, ';'],
        [expression, `void ${textOf(expression.argument as Node)}`],
      ]
    }
    case 'CallExpression': {
      const [first, second] = node.arguments as Node[]
      if (first === undefined || second === undefined || textOf(first) === textOf(second)) return []
      if ([first, second].some(({ type }) => /Function|Spread/.test(type))) return []
      if (/^Math\.(?:min|max)$/.test(textOf(node.callee as Node))) return []
      const between = source.slice(first.end, second.start)
      return [[{ start: first.start, end: second.end }, `${textOf(second)}${between}${textOf(first)}`]]
    }
    default:
      return []
  }
}

/** Expressions that only carry a type. */
const TYPED = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']

function visit(node: Node, take: (node: Node) => void): void {
  if (node.type === 'ImportDeclaration' || (node.type.startsWith('TS') && !TYPED.includes(node.type))) return
  take(node)
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each === 'object' && each !== null && typeof (each as Node).type === 'string')
        visit(each as Node, take)
    }
  }
}

const short = (text: string) => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}…` : line
}
