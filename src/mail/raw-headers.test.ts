import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { addressesOf, decodeWords, readHeaderFields } from './header-fields.ts'
import { encodeRawHeaders } from './raw-headers.ts'

const encoded = (field: string) =>
  Buffer.from(encodeRawHeaders(Buffer.from(`${field}\r\n\r\n`)).bytes)
    .toString('latin1')
    .trimEnd()

const CASES: [what: string, raw: string, inAscii: string][] = [
  ['a name', 'From: Jürgen <a@b.test>', 'From: =?UTF-8?Q?J=C3=BCrgen?= <a@b.test>'],
  ['a quoted name with a comma', 'To: "Ö, \\"x\\"" <a@b.test>', 'To: =?UTF-8?B?w5YsICJ4Ig==?= <a@b.test>'],
  ['a name without a blank behind it', 'To: Jürgen<a@b.test>', 'To: =?UTF-8?Q?J=C3=BCrgen?= <a@b.test>'],
  ['the second of several', 'Cc: x@y.test, Jürgen <a@b.test>', 'Cc: x@y.test, =?UTF-8?Q?J=C3=BCrgen?= <a@b.test>'],
  ['a comment', 'Reply-To: a@b.test (Jürgen)', 'Reply-To: a@b.test (=?UTF-8?Q?J=C3=BCrgen?=)'],
  ['a group', 'To: Gäste: a@b.test, c@d.test;', 'To: =?UTF-8?Q?G=C3=A4ste?=: a@b.test, c@d.test;'],
  [
    'an encoded word beside raw text',
    'From: =?utf-8?q?=C3=84?= Jürgens <a@b.test>',
    'From: =?UTF-8?Q?=C3=84_J=C3=BCrgens?= <a@b.test>',
  ],
  ['a subject', 'Subject: Grüße an alle', 'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_an_alle?='],
  ['a field of free text', 'X-Note: größer als vorher', 'X-Note: =?UTF-8?Q?gr=C3=B6=C3=9Fer_als_vorher?='],
]
for (const [what, raw, inAscii] of CASES) {
  test(`${what} becomes encoded words`, () => expect(encoded(raw)).toBe(inAscii))
}

const KEPT: [what: string, raw: string][] = [
  ['ASCII', 'To: "a, b"  <a@b.test> (c (d))'],
  ['an address', 'To: jürgen@b.test, <ä@b.test>, "ö"@b.test'],
  ['comments in comments', 'To: Jürgen (a (b) c) <a@b.test>'],
  ['a field with a syntax of its own', 'Content-Disposition: attachment; filename="ü.pdf"'],
  ['trace', 'Received: from ü by b.test'],
  ['a name that is too long for an encoded word', `X-${'n'.repeat(70)}: ü`],
]
for (const [what, raw] of KEPT) {
  test(`${what} goes as it came`, () => {
    expect(Buffer.from(encoded(raw), 'latin1').toString()).toBe(raw)
  })
}

test('text that is not UTF-8 goes as it came beside fields that are', () => {
  const head = Buffer.from('Subject: Gr\xfc\xdfe\r\nFrom: J\xc3\xbcrgen <a@b.test>\r\n\r\n', 'latin1')
  const { bytes, encoded: count } = encodeRawHeaders(head)
  expect(Buffer.from(bytes).toString('latin1')).toBe(
    'Subject: Gr\xfc\xdfe\r\nFrom: =?UTF-8?Q?J=C3=BCrgen?= <a@b.test>\r\n\r\n',
  )
  expect(count).toBe(1)
})

test('for any names, the addresses stay and the text means the same', () => {
  const word = fc.constantFrom('Jürgen', 'x', '"ö, <z>"', '日本', '(ä)', 'a.b', '=?utf-8?q?=C3=84?=', '😀'.repeat(30))
  const mailbox = fc.array(word, { maxLength: 4 }).map((words) => `${words.join(' ')} <a@b.test>`)
  fc.assert(
    fc.property(fc.array(mailbox, { minLength: 1, maxLength: 4 }), (all) => {
      const raw = all.join(', ')
      const [field] = readHeaderFields(Buffer.from(`${encoded(`To: ${raw}`)}\r\n\r\n`, 'latin1')).fields
      const value = field?.value ?? ''
      expect(value).toMatch(/^[\x20-\x7e]*$/)
      expect(addressesOf(value)).toEqual(addressesOf(raw))
      const meant = (text: string) => decodeWords(text).replace(/[\s"]/g, '')
      expect(meant(value)).toBe(meant(raw))
    }),
    { numRuns: 200 },
  )
})
