import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { toWire, unstuffed } from './wire-mail.ts'

const wire = (...parts: string[]) => toWire(parts.map((part) => Buffer.from(part, 'latin1')))
const sent = (...parts: string[]) => wire(...parts).bytes.toString('latin1')

test('sends a clean mail byte for byte with a final dot and its parts joined', () => {
  expect(sent('A: b\r\n', 'C: d\r\n\r\nhello\r\n')).toBe('A: b\r\nC: d\r\n\r\nhello\r\n.\r\n')
  expect(wire('A: b\r\n\r\nx\r\n').sizeBytes).toBe(11)
})

const CASES: [name: string, mail: string, onWire: string][] = [
  ['a dot at a line start is doubled', 'a\r\n.\r\nb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['a dot in front of everything is doubled', '.a\r\n', '..a\r\n.\r\n'],
  ['a dot within a line stays', 'a.\r\nb.c\r\n', 'a.\r\nb.c\r\n.\r\n'],
  ['a missing last line end is added', 'a', 'a\r\n.\r\n'],
  ['the empty mail is only the dot', '', '.\r\n'],
  ['LF dot LF cannot end the mail', 'a\n.\nb\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['CR dot CR cannot end the mail', 'a\r.\rb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['LF dot CRLF cannot end the mail', 'a\n.\r\nb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['CRLF NUL dot CRLF cannot end the mail', 'a\r\n\0.\r\nb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['CRLF dot NUL CRLF cannot end the mail', 'a\r\n.\0\r\nb\r\n', 'a\r\n..\r\nb\r\n.\r\n'],
  ['CR CR LF becomes two line ends', 'a\r\r\nb\r\n', 'a\r\n\r\nb\r\n.\r\n'],
  ['a CR at the very end becomes a line end', 'a\r', 'a\r\n.\r\n'],
]
for (const [name, mail, onWire] of CASES) {
  test(name, () => expect(sent(mail)).toBe(onWire))
}

test('treats CR and LF in two parts as one line end', () => {
  expect(sent('a\r', '\nb\r\n')).toBe('a\r\nb\r\n.\r\n')
})

test('detects 8-bit bytes, and UTF-8 in the headers', () => {
  expect(wire('A: b\r\n\r\nx\r\n')).toMatchObject({ isEightBit: false, hasUtf8Headers: false })
  expect(wire('A: b\r\n\r\n\xe9\r\n')).toMatchObject({ isEightBit: true, hasUtf8Headers: false })
  expect(wire('A: \xe9\r\n\r\nx\r\n')).toMatchObject({ isEightBit: true, hasUtf8Headers: false })
  expect(wire('A: \xc3\xa9\r\n\r\nx\r\n')).toMatchObject({ isEightBit: true, hasUtf8Headers: true })
})

test('for any bytes, only the last three end the mail and no bare CR, LF or NUL remains', () => {
  const nasty = fc.array(
    fc.constantFrom('\r', '\n', '.', '\0', 'a', '\t', '\xe9', 'a longer line', '\r\n', '\r\n.\r\n'),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(nasty, (pieces) => {
      const text = sent(pieces.join(''))
      expect(text.endsWith('.\r\n')).toBe(true)
      const body = text.slice(0, -3)
      expect(body === '' || body.endsWith('\r\n')).toBe(true)
      expect(body).not.toMatch(/(^|\r\n)\.(\r|\n|$)|[^\r]\n|^\n|\r[^\n]|\r$|\0/)
      const clean = body.replace(/(^|\r\n)\./g, '$1')
      expect(toWire([Buffer.from(clean, 'latin1')]).sizeBytes).toBe(clean.length)
      expect(unstuffed(wire(pieces.join(''))).toString('latin1')).toBe(clean)
    }),
    { numRuns: 2000 },
  )
})
