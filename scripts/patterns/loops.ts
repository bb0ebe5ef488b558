/** Quadratic loops without a slow pattern: a list or text that is copied in each round, or shifted from its front,
 *  and a pattern that is applied to the rest of a text repeatedly. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, treeOf, walk } from './extract.ts'

const ROOT = join(import.meta.dir, '../..')
/** Modules that read text of strangers and tenants. */
const READERS = [
  ...['mail', 'net', 'receiving', 'sending/analysis', 'sending/outbound', 'sending/submission', 'sending/suppressions'],
  ...['sending/tls-policy', 'web/api', 'web/compat', 'web/tracking'],
]

export interface LoopException {
  readonly file: string
  /** The expression as written. */
  readonly code: string
  /** What ends the loop, or why a round is short. */
  readonly why: string
}

/** → each violation as `file:line: what`, and each unnecessary exception. */
export function loopOffences(exceptions: readonly LoopException[]): string[] {
  const offences: string[] = []
  const used = new Set<LoopException>()
  const all = READERS.flatMap((module) => [...new Bun.Glob(`src/${module}/**/*.ts`).scanSync(ROOT)])
  const files = all.filter((file) => !file.endsWith('.test.ts'))
  for (const file of files.sort()) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const { code, line } of slowLoopsIn(treeOf(file, text), text)) {
      const exception = exceptions.find((each) => each.file === file && each.code === code)
      if (exception === undefined) offences.push(`${file}:${line}: copies or shifts in each round of a loop: ${code}`)
      else used.add(exception)
    }
  }
  for (const each of exceptions) {
    if (!used.has(each))
      offences.push(`${each.file}: the exception for the loop with ${each.code} is not needed any more`)
  }
  return offences
}

const LOOPS = new Set(['ForStatement', 'ForOfStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement'])
const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
])

function slowLoopsIn(tree: Node, text: string): { code: string; line: number }[] {
  const found: { code: string; line: number }[] = []
  walk(tree, (node, parents) => {
    const loop = parents.findLast(({ type }) => LOOPS.has(type) || FUNCTIONS.has(type))
    if (loop === undefined || FUNCTIONS.has(loop.type) || !isSlow(node, text)) return
    found.push({ code: text.slice(node.start, node.end).replaceAll(/\s+/g, ' '), line: node.loc.start.line })
  })
  return found
}

function isSlow(node: Node, text: string): boolean {
  if (node.type === 'AssignmentExpression' && node.operator === '=') return copiesItself(node, text)
  if (node.type !== 'CallExpression') return false
  const callee = node.callee as Node
  if (callee.type !== 'MemberExpression') return false
  const method = String((callee.property as Node).name)
  const [first] = node.arguments as Node[]
  if (method === 'shift') return first === undefined
  if (method === 'unshift') return true
  return (method === 'exec' || method === 'test') && first !== undefined && isRest(first)
}

/** `list = [...list, one]`, `list = list.concat(…)`, `text = text.slice(…)` and `text = text.replace(…)`. */
function copiesItself(node: Node, text: string): boolean {
  const target = text.slice((node.left as Node).start, (node.left as Node).end)
  const value = node.right as Node
  const written = (each: Node) => text.slice(each.start, each.end)
  if (value.type === 'ArrayExpression' || value.type === 'ObjectExpression') {
    const elements = (value.elements ?? value.properties) as (Node | null)[]
    return elements.some((each) => each?.type === 'SpreadElement' && written(each.argument as Node) === target)
  }
  if (value.type !== 'CallExpression') return false
  const callee = value.callee as Node
  if (callee.type !== 'MemberExpression' || written(callee.object as Node) !== target) return false
  // Buffers have subarray, which is a view.
  return COPIES.includes(String((callee.property as Node).name))
}

const COPIES = ['concat', 'slice', 'substring', 'replace', 'replaceAll', 'trim', 'trimStart']

/** `text.slice(at)`: all that is left of it. */
function isRest(node: Node): boolean {
  if (node.type !== 'CallExpression') return false
  const callee = node.callee as Node
  if (callee.type !== 'MemberExpression' || (node.arguments as Node[]).length !== 1) return false
  return ['slice', 'substring', 'subarray'].includes(String((callee.property as Node).name))
}
