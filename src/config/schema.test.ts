import { expect, test } from 'bun:test'
import { toml } from './example.ts'
import { keysByPath } from './paths.ts'

test('keys have the ranges, units and defaults that they had', () => {
  // Operators rely on them. A deliberate change renews the snapshot with `bun test -u`.
  const lines = [...keysByPath()].map(([path, { kind, unit, fallback, isSecret }]) => {
    const facts = [kind.expected, unit, fallback === undefined ? 'required' : `default ${toml(fallback)}`]
    return `${path}: ${[...facts, isSecret && 'secret'].filter(Boolean).join('; ')}`
  })
  expect(lines.join('\n')).toMatchSnapshot()
})
