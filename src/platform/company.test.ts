import { expect, test } from 'bun:test'
import { createCompany } from './company.ts'

test('two that come in turn are company to each other, until one has stayed away for the time', () => {
  let now = 0
  const company = createCompany(() => now, 100)
  expect(company.has('a')).toBe(false)
  expect(company.has('a')).toBe(false)
  expect(company.has('b')).toBe(true)
  now = 50
  expect(company.has('a')).toBe(true)
  now = 149
  expect(company.has('a')).toBe(true)
  now = 150
  expect(company.has('a')).toBe(false)
})
