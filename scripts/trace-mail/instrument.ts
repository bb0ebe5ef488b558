import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parse } from '@babel/parser'

/** A function of `src`. Anonymous ones have the number of their line as `name`. */
export interface TracedFunction {
  file: string
  name: string
}

/** Copies `src` of the checkout into `folder` and makes each function of the copy report its calls → these functions. A
 *  copy, because threads and the reader of inbound mail load their modules themselves. Call number N is written as
 *  `TIME FUNCTION CALLER` to a file of its thread in `folder`: numbers of the returned list, -1 for no caller.
 *
 *  The copied reader runs without its sandbox, which would refuse to write that file. */
export function instrumentSource(root: string, folder: string): TracedFunction[] {
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
  for (const name of ['node_modules', 'package.json', 'dist']) symlinkSync(join(root, name), join(folder, name))
  const functions: TracedFunction[] = []
  const tracer = join(folder, 'tracer.ts')
  writeFileSync(tracer, tracerSource(folder))
  for (const path of new Bun.Glob('src/**/*.ts').scanSync(root)) {
    // Code of the browser and of customers runs elsewhere.
    if (/\.(?:test|d)\.ts$|\/ui\/|^src\/client\//.test(path)) continue
    const source = withoutSandbox(path, readFileSync(join(root, path), 'utf8'))
    const from = relative(dirname(join(folder, path)), tracer)
    const head = `import { $enter, $exit, $away, $back } from ${JSON.stringify(from)};`
    writeFileSync(join(folder, path), head + reporting(source, relative('src', path), functions))
  }
  return functions
}

function withoutSandbox(path: string, source: string): string {
  if (path !== 'src/os/sandbox/confine.ts') return source
  const free = source
    .replace(/(export function restartRestricted\(.*\): void \{\n)/, '$1  return\n')
    .replace(/(export function confine\(.*\): Confinement \{\n)/, '$1  return { seccomp: false, landlock: 0 }\n')
  if (free.split('\n').length !== source.split('\n').length + 2) throw new Error(`the sandbox of ${path} was not found`)
  return free
}

type Node = { type: string; start: number; end: number } & Record<string, unknown>

/** Source → the same with calls of the tracer at the beginning and end of each function, and around each `await`. */
function reporting(source: string, file: string, functions: TracedFunction[]): string {
  const inserted: { at: number; text: string; isEnd: boolean }[] = []
  const insert = (start: number, before: string, end: number, after: string) => {
    inserted.push({ at: start, text: before, isEnd: false }, { at: end, text: after, isEnd: true })
  }
  const visit = (node: Node, name: string | null, isAwaitTraced: boolean) => {
    const body = node.body as Node | undefined
    const isFunction = /Function|^(?:Object|Class|ClassPrivate)Method$/.test(node.type) && body?.start !== undefined
    if (isFunction && !node.type.startsWith('TS')) {
      const line = source.slice(0, node.start).split('\n').length
      const id = functions.push({ file, name: nameOf(node) ?? name ?? `line ${line}` }) - 1
      const isExpression = body.type !== 'BlockStatement'
      const enter = `$enter(${id})`
      const isEmpty = !isExpression && body.end - body.start === 2
      if (node.generator === true || isEmpty) insert(body.start + 1, `$exit(${enter});`, body.end, '')
      else if (isExpression) {
        insert(body.start, `{const $c=${enter};try{return `, body.end, '}finally{$exit($c)}}')
      } else insert(body.start + 1, `const $c=${enter};try{`, body.end - 1, '}finally{$exit($c)}')
    }
    if (node.type === 'AwaitExpression' && isAwaitTraced) {
      const { start, end } = node.argument as Node
      insert(node.start, '$back($c,', node.end, ')')
      insert(start, '$away($c,', end, ')')
    }
    const isTraced = isFunction ? node.generator !== true : isAwaitTraced
    for (const [key, child] of Object.entries(node)) {
      if (key === 'typeAnnotation' || key === 'returnType') continue
      for (const each of Array.isArray(child) ? child : [child]) {
        if (typeof each?.type === 'string' && each.start !== undefined) visit(each, nameOf(node), isTraced)
      }
    }
  }
  const { program } = parse(source, {
    sourceType: 'module',
    plugins: ['typescript'],
    createParenthesizedExpressions: true,
  })
  visit(program as unknown as Node, null, false)
  // At one place, an inner part ends before an outer one, and begins after it.
  const ordered = inserted.map((each, order) => ({ ...each, order }))
  ordered.sort(
    (a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? b.order - a.order : a.order - b.order),
  )
  let at = 0
  const parts = ordered.map((each) => {
    const part = source.slice(at, each.at) + each.text
    at = each.at
    return part
  })
  return parts.join('') + source.slice(at)
}

/** The name in a declaration, a property or a method. */
function nameOf(node: Node): string | null {
  const key = (node.id ?? node.key) as Node | null | undefined
  const name = key?.name ?? (key?.id as Node | undefined)?.name
  return typeof name === 'string' ? name : null
}

/** The module that the copy imports. A call that returned or waits is nobody's caller. */
const tracerSource = (folder: string) => `
import { appendFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
type Call = { id: number; parent: Call | null; hasWaited: boolean }
const file = ${JSON.stringify(join(folder, 'calls'))} + '-' + process.pid + '-' + threadId
let current: Call | null = null
let lines: string[] = []
const flush = () => { if (lines.length > 0) appendFileSync(file, lines.join('')); lines = [] }
setInterval(flush, 20).unref()
export function $enter(id: number): Call {
  lines.push(performance.timeOrigin + performance.now() + ' ' + id + ' ' + (current?.id ?? -1) + '\\n')
  if (lines.length > 5000) flush()
  return (current = { id, parent: current, hasWaited: false })
}
export function $exit(call: Call): void { current = call.hasWaited ? null : call.parent }
export function $away<T>(call: Call, value: T): T { $exit(call); call.hasWaited = true; return value }
export function $back<T>(call: Call, value: T): T { current = call; return value }
`
