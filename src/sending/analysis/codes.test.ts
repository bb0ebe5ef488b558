import { expect, test } from 'bun:test'
import { CATEGORIES, FINDING_KINDS } from './codes.ts'

test('findings have the severities and penalties that they had', () => {
  // They make the score of a message. A deliberate change renews the snapshot with `bun test -u`.
  const kinds = Object.entries(FINDING_KINDS).map(
    ([code, { category, severity, penalty, field }]) => `${code}: ${category} ${severity} ${penalty} ${field}`,
  )
  expect(Object.entries(CATEGORIES).map(([name, most]) => `${name}: ${most}`)).toMatchSnapshot()
  expect(kinds.join('\n')).toMatchSnapshot()
})
