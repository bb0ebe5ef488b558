import { expect, test } from 'bun:test'
import { foldField } from './header-text.ts'

test('a field is folded between tokens to 76 characters, and never behind its name', () => {
  const [a, b, c] = ['a'.repeat(30), 'b'.repeat(42), 'c'.repeat(75)]
  // `X: a b` has 76 characters.
  expect(foldField('X', [a, b])).toBe(`X: ${a} ${b}\r\n`)
  expect(foldField('X', [a, `${b}b`])).toBe(`X: ${a}\r\n ${b}b\r\n`)
  expect(foldField('X', [c.repeat(2), a])).toBe(`X: ${c}${c}\r\n ${a}\r\n`)
  // A folded line begins with a space: it has 76 characters, too.
  expect(foldField('X', [b, a, 'd'.repeat(44), 'e'])).toBe(`X: ${b} ${a}\r\n ${'d'.repeat(44)} e\r\n`)
  expect(foldField('X', [c, a, 'd'.repeat(44)])).toBe(`X: ${c}\r\n ${a} ${'d'.repeat(44)}\r\n`)
  expect(foldField('X', [c, a, 'd'.repeat(45)])).toBe(`X: ${c}\r\n ${a}\r\n ${'d'.repeat(45)}\r\n`)
})
