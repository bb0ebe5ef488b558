import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { formatMailbox, parseMailbox } from './address.ts'
import { mailboxesOf, onlyMailbox } from './mailboxes.ts'

const shown = (value: string) => mailboxesOf(value).map(formatMailbox)

describe('the one mailbox of a header', () => {
  test.each([
    ['ann@example.com', 'ann@example.com'],
    [' <ann@example.com>', 'ann@example.com'],
    ['Ann B. <ann@EXAMPLE.com>', 'Ann B. <ann@example.com>'],
    ['=?utf-8?Q?J=C3=BCrgen?= <j@example.com>', 'Jürgen <j@example.com>'],
    ['=?utf-8?B?TcO8bGxlciwgSg==?= <j@example.com>', '"Müller, J" <j@example.com>'],
    ['"=?utf-8?Q?evil_=3Ce=40evil.example=3E?=" <j@example.com>', '"evil <e@evil.example>" <j@example.com>'],
    ['=?utf-8?Q?=E2=80=AEevil?= <j@example.com>', 'j@example.com'],
  ])('%s is read as %s', (value, expected) => {
    expect(formatMailbox(onlyMailbox(value)!)).toBe(expected)
  })

  // Each is one mailbox by RFC 5322 §3.4 and §4.4, or by every mail library.
  test.each([
    ['app@d.example (Cron Daemon)', 'Cron Daemon <app@d.example>'],
    ['My Shop (no reply) <app@d.example>', '"My Shop (no reply)" <app@d.example>'],
    ['=?utf-8?q?Shop=2C_Inc=2E?= <app@d.example>', '"Shop, Inc." <app@d.example>'],
    ['Shop <app@d.example> (no reply)', 'Shop <app@d.example>'],
    ['(a (nested \\) one)) app@d.example', 'app@d.example'],
    ['app@d.example (a) (b)', 'app@d.example'],
    ['Shop <app(x)@(y)d.example(z)>', 'Shop <app@d.example>'],
    ['app @ d.example', 'app@d.example'],
    ['Shop  Inc\t< app @d.example >', 'Shop Inc <app@d.example>'],
    ['app@d.example,', 'app@d.example'],
    [', "Shop, Inc" <app@d.example> ,, ', '"Shop, Inc" <app@d.example>'],
    ['"a (b" <app@d.example> (c)', '"a (b" <app@d.example>'],
    ['"a @ b"@d.example (c)', '"a @ b"@d.example'],
    ['app@d.example (=?utf-8?q?Caf=C3=A9?=)', 'Café <app@d.example>'],
  ])('%s is one: %s', (value, expected) => {
    expect(formatMailbox(onlyMailbox(value)!)).toBe(expected)
  })

  test.each([
    'app@d.example (x), b@d.example',
    'app@d.example, (b@d.example)',
    'app@d.example (b@d.example)',
    'a@b.example (x, y) <app@d.example> (z)',
    '(x) a@b.example, <app@d.example>',
    'a@b.example (x) app@d.example',
    'app@b.example(x).d.example',
    'app(x)y@d.example',
    'us (x): app@d.example;',
    'app@d.example (never closed',
    '"never closed <app@d.example> (x)',
    '<@b.example:app@d.example> (x)',
    'app@b.example @d.example',
    '=?utf-8?q?app=40b.example?= @d.example',
    'app@d.example;',
    '(x)',
    ',',
  ])('%p is not one', (value) => expect(onlyMailbox(value)).toBeNull())

  test.each(['', 'a@b.example, c@d.example', 'x:a@b.example;', 'a', '<a@b.example> c@d.example', 'a@b@c.example'])(
    '%p is not exactly one',
    (value) => expect(onlyMailbox(value)).toBeNull(),
  )
})

test('a list gives what can be understood, in order', () => {
  const value =
    '"B, A" <ab@x.example>, =?utf-8?Q?=C3=84?= <c@x.example> (work), Team: d@x.example, e@x.example;, odd, <f@x.example>'
  expect(shown(value)).toEqual([
    '"B, A" <ab@x.example>',
    'Ä <c@x.example>',
    'd@x.example',
    'e@x.example',
    'f@x.example',
  ])
  expect(shown('')).toEqual([])
  expect(shown('"never closed, a@x.example, b@x.example')).toEqual([])
})

test.each(['"\\', '(\\', '"(', '(', 'a,', '<', '=?utf-8?q?'])(
  'is found quickly in a header full of %p',
  async (piece) => {
    const header = piece.repeat(200_000 / piece.length)
    await expectCostUnder(1_000, () => mailboxesOf(header), 2)
  },
)

test('round-trips once it is read from any header', () => {
  const piece = fc.constantFrom(
    'a@x.example',
    '<',
    '>',
    '"',
    ',',
    ';',
    ':',
    '(',
    ')',
    '\\',
    ' ',
    '=?utf-8?Q?=0A=22?=',
    'ä',
    'N',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      for (const mailbox of mailboxesOf(pieces.join(''))) {
        expect(parseMailbox(formatMailbox(mailbox))?.address).toBe(mailbox.address)
      }
    }),
    { numRuns: 2000 },
  )
})
