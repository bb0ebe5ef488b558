import { expect, test } from 'bun:test'
import { withShortNames } from './short-names.ts'

test('local names become short, and names that others use stay', () => {
  const source = `import imported, { other as renamed } from 'package'
    export function exported(parameter) { const local = parameter + renamed.property; return local + imported }`
  const short = withShortNames(source)
  expect(short).not.toMatch(/parameter|renamed|local/)
  expect(short).toContain('export function exported(')
  expect(short).toContain('.property')
  expect(withShortNames('exports.shown = function (value) { return value }')).toContain('exports.shown=')
})

test('a branch for development goes', () => {
  expect(withShortNames(`if (process.env.NODE_ENV === 'production') a(); else b()`)).toBe('a();')
})

test.each(['typeof require', '__dirname', '__filename', 'eval("name")'])('a module with %s stays as it is', (text) => {
  const source = `const someName = 1; exports.a = ${text}`
  expect(withShortNames(source)).toBe(source)
})
