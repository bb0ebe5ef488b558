import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldLongLines, hasLongLine, wrapBase64 } from './long-lines.ts'

const fold = (text: string) => Buffer.from(foldLongLines(Buffer.from(text)).bytes).toString()
const linesOf = (text: string) => Buffer.from(text).toString('latin1').split('\r\n')

test('a line of 998 octets stays, and longer ones continue behind a space', () => {
  expect(fold(`A: b\r\n\r\n${'x'.repeat(998)}\r\n`)).toBe(`A: b\r\n\r\n${'x'.repeat(998)}\r\n`)
  const folded = foldLongLines(Buffer.from(`A: b\r\n\r\n${'x'.repeat(999)}\r\ny\r\n${'z'.repeat(1_995)}`))
  expect(Buffer.from(folded.bytes).toString()).toBe(
    `A: b\r\n\r\n${'x'.repeat(998)}\r\n x\r\ny\r\n${'z'.repeat(998)}\r\n ${'z'.repeat(997)}`,
  )
  expect(folded.folded).toBe(2)
})

test('a long header line breaks at its blanks, not behind the name, and keeps its value', () => {
  const header = `References: ${'<a@b.example> '.repeat(200)}end\r\nX: ${'x'.repeat(1_200)}\r\n\r\n`
  const folded = fold(header)
  expect(folded.replaceAll('\r\n <', ' <').replaceAll('\r\n end', ' end')).toStartWith(header.slice(0, 2_500))
  expect(folded).toContain(`X: ${'x'.repeat(995)}\r\n x`)
})

test('a character of UTF-8 is not split', () => {
  expect(fold(`\r\n\r\n${'x'.repeat(997)}😀y`)).toBe(`\r\n\r\n${'x'.repeat(997)}\r\n 😀y`)
  expect(fold(`\r\n\r\n${'ü'.repeat(800)}`)).not.toContain('\ufffd')
})

test('for any lines, none is too long afterwards, nothing but breaks was added, and twice is the same', () => {
  const line = fc.tuple(fc.constantFrom('x', 'ü', '日', 'ab cd ', '\t', '😀'), fc.nat(1_500))
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (all) => {
      const text = `X: y\r\n${all.map(([word, count], at) => (at === 2 ? '\r\n' : `a${word.repeat(count)}`)).join('\r\n')}`
      const folded = fold(text)
      expect(Math.max(...linesOf(folded).map(({ length }) => length))).toBeLessThan(999)
      expect(folded.replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      expect(fold(folded)).toBe(folded)
      expect(hasLongLine(Buffer.from(text))).toBe(linesOf(text).some(({ length }) => length > 998))
    }),
    { numRuns: 100 },
  )
})

test('long lines of base64 become lines of 76 characters, and the text behind them stays', () => {
  const data = Buffer.from('x'.repeat(1_000)).toString('base64')
  const wrapped = Buffer.from(wrapBase64(Buffer.from(`${data}\r\n-- \r\nfooter`))).toString()
  expect(wrapped.split('\r\n')[0]).toHaveLength(76)
  expect(wrapped).toEndWith('\r\n-- \r\nfooter')
  expect(wrapped.replaceAll('\r\n', '')).toStartWith(data)
})
