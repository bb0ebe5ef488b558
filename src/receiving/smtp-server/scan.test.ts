import { expect, test } from 'bun:test'
import { createScan, SCAN_LIMITS } from './scan.ts'

/** The first fault, with the mail cut into pieces of `size` bytes. */
function faultOf(text: string, size = text.length || 1): string | null {
  const bytes = Buffer.from(text, 'latin1')
  const scan = createScan()
  for (let at = 0; at < bytes.length; at += size) scan.feed(bytes.subarray(at, at + size))
  const fault = scan.end()
  return fault && `${fault.code} ${fault.enhanced}`
}

const HEADER = 'Subject: x\r\nReceived: a\r\n\tb\r\n\r\n'
const CASES: [string, string, string | null][] = [
  ['an empty mail', '', null],
  ['a mail', `${HEADER}text\r\n\r\nmore\r\n`, null],
  ['eight bits', `${HEADER}\xff\x80\x01\r\n`, null],
  ['bare LF in the header', 'Subject: x\nFrom: y\r\n\r\n', '550 5.5.2'],
  ['bare CR in the header', 'Subject: x\rFrom: y\r\n\r\n', '550 5.5.2'],
  ['bare LF in the body', `${HEADER}a\nb\r\n`, '550 5.5.2'],
  ['bare LF as the first byte of the body', `${HEADER}\nb\r\n`, '550 5.5.2'],
  ['bare CR in the body', `${HEADER}a\rb\r\n`, '550 5.5.2'],
  ['CR CR LF', `${HEADER}a\r\r\n`, '550 5.5.2'],
  ['CR as the last byte', `${HEADER}a\r`, '550 5.5.2'],
  ['NUL in the header', 'Subject: \0\r\n\r\n', '550 5.6.0'],
  ['NUL in the body', `${HEADER}a\0b\r\n`, '550 5.6.0'],
  ['a line of 1 MiB', `${HEADER}${'x'.repeat(SCAN_LIMITS.lineBytes)}\r\n`, null],
  ['a line over 1 MiB', `${HEADER}${'x'.repeat(SCAN_LIMITS.lineBytes + 1)}\r\nshort\r\n`, '550 5.6.0'],
  ['a header line over 64 KiB', `Subject: ${'x'.repeat(SCAN_LIMITS.headerLineBytes)}\r\n\r\n`, '550 5.6.0'],
  ['a last line over 1 MiB without an end', `${HEADER}${'x'.repeat(SCAN_LIMITS.lineBytes + 1)}`, '550 5.6.0'],
  ['many lines of 100 KiB', `${HEADER}${`${' '.repeat(102_400)}\r\n`.repeat(3)}`, null],
  ['a line of 1 MiB that ends in a bare LF', `${HEADER}${'x'.repeat(SCAN_LIMITS.lineBytes)}\n`, '550 5.5.2'],
  ['a bare CR in a line over 64 KiB', `${HEADER}${'x'.repeat(100_000)}\ra\r\n`, '550 5.5.2'],
  ['a header of 256 KiB', `${'X: yyyyyyyyyyy\r\n'.repeat(16_383)}X: yyyyyyyyy\r\n\r\n`, null],
  ['a header over 256 KiB', `${'X: yyyyyyyyyyy\r\n'.repeat(16_384)}\r\n`, '552 5.3.4'],
  ['50 Received', `${'rEceived: x\r\n'.repeat(50)}\r\nReceived: in the body\r\n`, null],
  ['51 Received', `${'Received: x\r\n'.repeat(51)}\r\n`, '554 5.4.6'],
  ['51 fields that are nearly Received', `${'Received-SPF: x\r\nX-Received: y\r\n'.repeat(51)}\r\n`, null],
  ['the first fault counts', `${HEADER}a\0b\nc\r\n`, '550 5.6.0'],
]

for (const [name, text, expected] of CASES) {
  test(`${name}: ${expected ?? 'no fault'}, however it is cut`, () => {
    expect(faultOf(text)).toBe(expected)
    expect(faultOf(text, 1)).toBe(expected)
    expect(faultOf(text, 7)).toBe(expected)
    expect(faultOf(text, 4_096)).toBe(expected)
  })
}

test('any mail gives the same fault whole and in pieces, and none only if every line ends in CR LF', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % (2 ** 31 - 1)
    return seed % below
  }
  const parts = ['\r\n', '\r\n', '\r', '\n', '\0', 'a', '.', 'Received: b\r\n', '\r\n\r\n', 'text', '\xe4']
  for (let round = 0; round < 3_000; round++) {
    const text = Array.from({ length: random(12) }, () => parts[random(round % 3 === 0 ? parts.length : 2)]).join('')
    const whole = faultOf(text)
    expect([text, faultOf(text, 1), faultOf(text, 1 + random(5))]).toEqual([text, whole, whole])
    expect([text, whole === null]).toEqual([text, !/\0|(?<!\r)\n|\r(?!\n)/.test(text)])
  }
})
