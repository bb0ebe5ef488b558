import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  bodyFault,
  contentIdFault,
  contentTypeFault,
  decodeBase64,
  decodeWrittenBase64,
  filenameFault,
  headerNameFault,
  headerValueFault,
  idempotencyKeyFault,
  metadataFault,
  metadataFaults,
  subjectFault,
  tagFault,
  unsubscribeHeaderFault,
} from './checks.ts'

const LINE_CHECKS = {
  subjectFault,
  headerNameFault,
  headerValueFault,
  filenameFault,
  contentTypeFault,
  contentIdFault,
  tagFault,
}

describe('line ends and NUL', () => {
  for (const [name, check] of Object.entries(LINE_CHECKS)) {
    test(`${name} refuses text that contains one anywhere`, () => {
      const place = fc.tuple(fc.string(), fc.constantFrom('\r', '\n', '\0', '\r\n'), fc.string())
      fc.assert(fc.property(place, ([before, end, after]) => check(before + end + after) !== null))
    })
  }
})

describe('headers', () => {
  test.each([
    'X-Foo',
    'In-Reply-To',
    'References',
    'Auto-Submitted',
    'Precedence',
    'Importance',
    'List-Id',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'Feedback-ID',
    'X-Entity-Ref-ID',
    "x!#$%&'*+-.^_`|~",
  ])('%s is allowed', (name) => expect(headerNameFault(name)).toBeNull())

  test.each([
    'From',
    'TO',
    'cc',
    'Bcc',
    'Sender',
    'Subject',
    'Date',
    'Message-ID',
    'Reply-To',
    'DKIM-Signature',
    'Received',
    'Return-Path',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'content-disposition',
    'Authentication-Results',
    'ARC-Seal',
    'Resent-From',
    'Resent-Bcc',
    'X-Service-Signature',
    'Delivered-To',
  ])('%s is reserved for the service', (name) => expect(headerNameFault(name)).toContain('set by Postrider'))

  test.each(['', 'X Foo', 'X-Foo:', 'X-Fö', 'X-Foo\r\nBcc', 'X\tY', 'X\x7f', 'a'.repeat(77)])(
    '%p is not a header name',
    (name) => expect(headerNameFault(name)).not.toBeNull(),
  )

  const LINK = '<https://shop.example/leave?a=1,2>'
  const own: [headers: [string, string][], fault: RegExp | null][] = [
    [[['list-unsubscribe', LINK]], null],
    [[['List-Unsubscribe', `${LINK}, <mailto:leave@shop.example?subject=x>`]], null],
    [
      [
        ['List-Unsubscribe', LINK],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ],
      null,
    ],
    [[['List-Unsubscribe', 'https://shop.example/leave']], /^must be a list/],
    [[['List-Unsubscribe', '<javascript:alert(1)>']], /^must be a list/],
    [[['List-Unsubscribe', '<https://shop.example/grüße>']], /^must be a list/],
    [[['List-Unsubscribe', `${LINK},`]], /^must be a list/],
    [[['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click']], /^requires an https link/],
    [
      [
        ['List-Unsubscribe', '<mailto:leave@shop.example>'],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ],
      /^requires an https link/,
    ],
    [
      [
        ['List-Unsubscribe', LINK],
        ['List-Unsubscribe-Post', 'yes'],
      ],
      /^must be List/,
    ],
    [[['List-Unsubscribe', '<mailto:%unsubscribe_email%>']], /^must not contain %unsubscribe_email%/],
    [[['List-Unsubscribe', '<https://%unsubscribe_url%>']], /^must not contain/],
  ]
  test.each(own)('own unsubscribe headers %j', (headers, fault) => {
    const found = unsubscribeHeaderFault(headers)
    if (fault === null) expect(found).toBeNull()
    else expect(found?.fault).toMatch(fault)
  })

  test('a value may be empty, have tabs and any script, and 998 bytes', () => {
    for (const value of ['', 'a\tb', 'Grüße 日本', 'x'.repeat(998)]) expect(headerValueFault(value)).toBeNull()
    for (const value of ['x'.repeat(999), 'ü'.repeat(500), 'a\x01', 'a\x7f', '\ud800']) {
      expect(headerValueFault(value)).not.toBeNull()
    }
  })
})

test('a subject has 1 to 998 bytes', () => {
  for (const subject of ['x', 'x'.repeat(998), 'ü'.repeat(499)]) expect(subjectFault(subject)).toBeNull()
  for (const subject of ['', '  ', 'x'.repeat(999), 'ü'.repeat(500), '\udc00'])
    expect(subjectFault(subject)).not.toBeNull()
})

test('a body may be any markup, but not blank, with NUL or with half a character', () => {
  for (const body of ['<p>hi', '<b><i></b>', 'plain', '<img src=x>']) expect(bodyFault(body)).toBeNull()
  for (const body of ['', ' \r\n\t', '<p>a\0b</p>', '<p>\ud83d</p>']) expect(bodyFault(body)).not.toBeNull()
})

test('a file name is a file without a folder', () => {
  for (const name of ['a.pdf', 'Rechnung März.pdf', '..a', 'a b', '請求書.pdf', '漢'.repeat(255), '🎉'.repeat(255)])
    expect(filenameFault(name)).toBeNull()
  for (const name of [
    '',
    '.',
    '..',
    'a/b',
    '..\\a',
    '/etc/passwd',
    'a\u2028b',
    'a\tb',
    'ü'.repeat(256),
    '🎉'.repeat(256),
  ]) {
    expect(filenameFault(name)).not.toBeNull()
  }
})

test('a content type is type/subtype with parameters', () => {
  for (const type of [
    'application/pdf',
    'text/plain; charset=utf-8',
    'text/calendar;method="REQUEST"; charset=UTF-8',
  ]) {
    expect(contentTypeFault(type)).toBeNull()
  }
  for (const type of [
    '',
    'pdf',
    'a/b/c',
    'text/',
    'text/plain;',
    'text/plain; charset',
    'téxt/plain',
    `a/${'b'.repeat(254)}`,
  ]) {
    expect(contentTypeFault(type)).not.toBeNull()
  }
})

test('a content id is printable and without brackets', () => {
  for (const id of ['logo', 'logo@example.com', 'a%20b']) expect(contentIdFault(id)).toBeNull()
  for (const id of ['', 'a b', '<logo>', 'ä', 'a'.repeat(256)]) expect(contentIdFault(id)).not.toBeNull()
})

test('a tag has 1 to 64 characters, however many bytes', () => {
  for (const tag of ['a', '👍'.repeat(64), 'two words']) expect(tagFault(tag)).toBeNull()
  for (const tag of ['', ' ', 'a'.repeat(65), '👍'.repeat(65), 'a\x1b[0m']) expect(tagFault(tag)).not.toBeNull()
})

test('metadata has at most 50 keys and 4096 bytes', () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))
  expect(metadataFault(keys(50))).toBeNull()
  expect(metadataFault(keys(51))).not.toBeNull()
  expect(metadataFault({ a: 'x'.repeat(4096 - 8) })).toBeNull()
  expect(metadataFault({ a: 'x'.repeat(4096 - 7) })).not.toBeNull()
})

test('metadata is an object of strings, numbers and booleans; a fault names each other value', () => {
  expect(metadataFaults({ a: 'x', b: 1.5, c: false })).toEqual([])
  for (const whole of [null, [], 'x', 7, undefined]) {
    expect(metadataFaults(whole)).toEqual([{ key: null, fault: 'must be an object' }])
  }
  const bad = metadataFaults({ fine: 1, list: [], none: null, endless: Number.POSITIVE_INFINITY })
  expect(bad.map(({ key }) => key)).toEqual(['list', 'none', 'endless'])
  expect(metadataFaults({ a: 'x'.repeat(5000) })).toMatchObject([{ key: null }])
})

test('an idempotency key has 1 to 255 printable ASCII characters', () => {
  for (const key of ['k', ' ', '~'.repeat(255)]) expect(idempotencyKeyFault(key)).toBeNull()
  for (const key of ['', 'x'.repeat(256), 'a\tb', 'ä']) expect(idempotencyKeyFault(key)).not.toBeNull()
})

describe('base64', () => {
  test('encoder output is accepted, with and without line breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        const lines = text.replace(/.{76}/g, '$&\r\n')
        expect([...decodeBase64(text)!]).toEqual([...bytes])
        expect([...decodeBase64(lines)!]).toEqual([...bytes])
      }),
    )
  })

  test('any text is read exactly as by the strict decoder', () => {
    const alphabet = fc.string({ unit: fc.constantFrom(...'ABab09+/=-_ \n!é'), maxLength: 12 })
    fc.assert(
      fc.property(alphabet, (text) => {
        let strict: number[] | null = null
        try {
          strict = [...Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })]
        } catch {}
        const ours = decodeBase64(text)
        expect(ours === null ? null : [...ours]).toEqual(strict as never)
      }),
      { numRuns: 2000 },
    )
  })

  test.each(['A', 'AA', 'AAA', 'AA=', 'AAAA=', 'AB==', 'AA==AA==', 'a-b_', 'AAA!', '====', 'é'.repeat(4)])(
    '%p is refused',
    (text) => expect(decodeBase64(text)).toBeNull(),
  )
})

describe('base64 as people write it', () => {
  const BYTES = Buffer.from([0xfb, 0xef, 0xbe, 0xff, 0x01])
  test.each([
    '++++/wE=',
    '----_wE=',
    '----_wE',
    '++++/wE',
    'data:application/pdf;base64,++++/wE=',
    'data:;base64,++++/wE',
    'DATA:image/svg+xml;charset=utf-8;Base64, ----_wE',
    '++++\n/wE=\r\n',
  ])('%j is read', (text) => expect(Buffer.from(decodeWrittenBase64(text) ?? []).equals(BYTES)).toBe(true))

  test.each([
    '++++ /wE=',
    'hello world',
    '+---_wE',
    'data:text/plain,hello',
    'data:image/png;base64',
    'A',
    'AA=',
    'AA==AA',
    'é',
    'a*b',
    '{"a":1}',
  ])('%j is refused', (text) => expect(decodeWrittenBase64(text)).toBeNull())
})
