import { expect, test } from 'bun:test'
import { moduleWithShortNames, packageWithShortNames } from './short-names.ts'

test('local names of a package become short, and names that others use stay', () => {
  const source = `import imported, { other as renamed } from 'package'
    export function exported(parameter) { const local = parameter + renamed.property; return local + imported }`
  const short = packageWithShortNames(source)
  expect(short).not.toMatch(/parameter|renamed|local/)
  expect(short).toContain('export function exported(')
  expect(short).toContain('.property')
  expect(packageWithShortNames('exports.shown = function (value) { return value }')).toContain('exports.shown=')
})

test('functions and classes of our modules keep their names', async () => {
  const source = `import text from './a.sql' with { type: 'text' }
    import type { Unused } from './types.ts'
    const table: Record<string, number> = { someKey: 1 }
    async function helper(parameter: string) { const inner = parameter + text; return inner + table.someKey }
    const arrow = (parameter: number) => parameter
    class Failure extends Error {}
    declare function ambient(): void
    export const start = async () => { await helper('a'); arrow(2); throw new Failure() }`
  const short = moduleWithShortNames(source)
  for (const name of ['function helper', 'const arrow', 'class Failure', 'const start', '.someKey'])
    expect(short).toContain(name)
  expect(short).toMatch(/"\.\/a\.sql"\s*with\s*\{\s*type:"text"\}/)
  expect(short).not.toMatch(/parameter|inner|table|ambient|Unused/)
})

test('a branch for development goes', () => {
  expect(packageWithShortNames(`if (process.env.NODE_ENV === 'production') a(); else b()`)).toBe('a();')
})

test.each(['typeof require', '__dirname', '__filename', 'eval("name")'])('a module with %s stays as it is', (text) => {
  const source = `const someName = 1; exports.a = ${text}`
  expect(packageWithShortNames(source)).toBe(source)
})

test('a module of ours that requires another stays as it is', () => {
  const source = `const driver = require('better-sqlite3/linux-x64')`
  expect(moduleWithShortNames(source)).toBe(source)
})
