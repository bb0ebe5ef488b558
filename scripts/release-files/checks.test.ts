import { expect, test } from 'bun:test'
import { type Facts, obstacle } from './checks.ts'

const FACTS: Facts = {
  wanted: undefined,
  version: '1.2.0',
  changelog: '# Changelog\n\n## 1.2.0\n',
  changed: [],
  allowDirty: false,
}

test('a clean tree with an entry in the changelog can be released', () => {
  expect(obstacle(FACTS)).toBeNull()
  expect(obstacle({ ...FACTS, wanted: 'v1.2.0', changelog: '## 1.2.0 – 2026-11-26' })).toBeNull()
})

test.each<[Partial<Facts>, string]>([
  [{ wanted: '1.2.1' }, '--version is 1.2.1, but package.json has 1.2.0'],
  [{ changelog: '## 1.2.0-rc1\n## 11.2.0\n## 1.1.0' }, 'no entry for 1.2.0'],
  [{ changed: ['src/main.ts'] }, '1 files differ from the commit (src/main.ts'],
])('%o cannot be released', (facts, reason) => {
  expect(obstacle({ ...FACTS, ...facts })).toContain(reason)
})

test('changed files are no obstacle with --allow-dirty', () => {
  expect(obstacle({ ...FACTS, changed: ['src/main.ts'], allowDirty: true })).toBeNull()
})
