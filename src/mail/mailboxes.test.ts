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
