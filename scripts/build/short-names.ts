import { readFileSync } from 'node:fs'
import { parse } from '@babel/parser'

/** What the transpiler would replace by a value of this machine, or would hide from the bundler. */
const OF_THE_FILE = /\b(?:__dirname|__filename|typeof require|eval\()/
const REQUIRES = /\brequire\(/

/** Source of a package's module → the same with short local names. Traces do not name its functions any more, and it takes
 *  0.7 of the space. Text with names of the file's own place stays as it is. */
export function packageWithShortNames(source: string): string {
  return OF_THE_FILE.test(source) ? source : transpilers.js.transformSync(source)
}

/** One of our modules → JavaScript with short names of variables, parameters and inner functions. Functions and classes
 *  of the module itself keep theirs, because a trace in an operator's report names them. Text that requires modules stays as
 *  it is. */
export function moduleWithShortNames(source: string): string {
  if (OF_THE_FILE.test(source) || REQUIRES.test(source)) return source
  return transpilers.ts.transformSync(withAllExported(source))
}

/** Applies both to each module that no earlier plugin loads. */
export function shortNames(root: string): Bun.BunPlugin {
  return {
    name: 'short names',
    setup: (build) => {
      build.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
        contents: packageWithShortNames(readFileSync(path, 'utf8')),
        loader: 'js',
      }))
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        if (!path.startsWith(`${root}/src/`)) return undefined
        return { contents: moduleWithShortNames(readFileSync(path, 'utf8')), loader: 'ts' }
      })
    },
  }
}

/** Exported names stay, so functions and classes of the module are exported; the bundler removes what nothing imports. */
function withAllExported(source: string): string {
  const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] })
  let text = source
  for (const statement of program.body.toReversed())
    if (isNamed(statement)) text = `${text.slice(0, statement.start)}export ${text.slice(statement.start)}`
  return text
}

type Statement = ReturnType<typeof parse>['program']['body'][number]

function isNamed(statement: Statement): statement is Statement & { start: number } {
  if (statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') return !statement.declare
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const' || statement.declare) return false
  return statement.declarations.every(
    ({ id, init }) => id.type === 'Identifier' && init != null && NAMED_VALUES.has(init.type),
  )
}

const NAMED_VALUES = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'ClassExpression'])

const minified = {
  target: 'bun',
  define: { 'process.env.NODE_ENV': '"production"' },
  minify: { whitespace: true, syntax: true, identifiers: true },
} as const
// The types of the transpiler have only the older options.
const transpilers = {
  js: new Bun.Transpiler({ ...minified, loader: 'js' } as Bun.TranspilerOptions),
  ts: new Bun.Transpiler({ ...minified, loader: 'ts' } as Bun.TranspilerOptions),
}
