import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { bytesOfUuencoded, nameOfUuencoded } from './uuencode.ts'

const CAT = '#0V%T'

test.each([
  ['a file', `begin 644 cat.txt\n${CAT}\n\`\nend\n`, 'cat.txt', 'Cat'],
  ['CRLF and words around it', `Hello\r\n\r\nbegin 0644 my cat.txt\r\n${CAT}\r\n\`\r\nend\r\nBye`, 'my cat.txt', 'Cat'],
  ['no end', `begin 644 cat.txt\n${CAT}`, 'cat.txt', 'Cat'],
  ['two lines', `begin 644 x\n${CAT}\n${CAT}\n \nend\n`, 'x', 'CatCat'],
  ['a word at the begin of a line', `begin here\nbegin 644 x\n${CAT}\nend`, 'x', 'Cat'],
  ['a length beyond the line', 'begin 644 x\nM\n`\nend\n', 'x', '\0\0'],
])('%s', (_, text, name, content) => {
  expect(nameOfUuencoded(Buffer.from(text))).toBe(name)
  expect(Buffer.from(bytesOfUuencoded(Buffer.from(text))!).toString('latin1')).toBe(content)
})

test.each(['', 'Hello', 'begin', 'begin 644 ', 'begin 644 x', 'to begin 644 x\nend\n'])(
  '%j contains no file',
  (text) => {
    expect(bytesOfUuencoded(Buffer.from(text))).toBeNull()
    expect(nameOfUuencoded(Buffer.from(text))).toBeNull()
  },
)

test.each([
  ['Gr\xfc\xdfe.txt', 'Grüße.txt'],
  ['\xe6\x97\xa5\xe6.txt', '日\ufffd.txt'],
])('the name %j needs no charset', (name, text) => {
  expect(nameOfUuencoded(Buffer.from(`begin 644 ${name}\n${CAT}\n`, 'latin1'))).toBe(text)
})

test('any bytes round-trip', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (content) => {
      const lines = ['begin 644 x']
      for (let at = 0; at < content.length; at += 45) lines.push(encodedLine(content.subarray(at, at + 45)))
      const back = bytesOfUuencoded(Buffer.from([...lines, '`', 'end', ''].join('\n')))!
      expect([...back]).toEqual([...content])
    }),
  )
})

const letter = (value: number) => (value === 0 ? '`' : String.fromCharCode(value + 32))

function encodedLine(bytes: Uint8Array): string {
  let line = letter(bytes.length)
  for (let at = 0; at < bytes.length; at += 3) {
    const group = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    line += [18, 12, 6, 0].map((shift) => letter((group >> shift) & 63)).join('')
  }
  return line
}
