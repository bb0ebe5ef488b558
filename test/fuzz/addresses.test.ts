import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatMailbox, parseMailbox, toALabel } from '../../src/mail/address.ts'
import { runs } from './runs.ts'

/** Addresses from outside parse or are refused, and a parsed address keeps its meaning. */

const binary = fc.string({ unit: 'binary', maxLength: 400 })

describe('addresses', () => {
  const pieces = fc
    .array(
      fc.constantFrom(
        'a',
        '@',
        '.',
        '<',
        '>',
        '"',
        '\\',
        ' ',
        ',',
        ';',
        ':',
        '(',
        ')',
        '[',
        ']',
        'ü',
        '\u202e',
        '\r\n',
        '\0',
        'xn--',
        '-',
        '1',
        '。',
        '%40',
        'example',
        '😀',
        '\ud800',
      ),
      { maxLength: 14 },
    )
    .map((parts) => parts.join(''))
  const text = fc.oneof(
    binary,
    pieces,
    pieces.map((part) => `${part}@d.example`),
    pieces.map((part) => `${part} <a@d.example>`),
  )

  test('that parse name one recipient, without line ends, and round-trip', () => {
    const run = fc.property(text, (given) => {
      const mailbox = parseMailbox(given)
      if (mailbox === null) return
      expect(mailbox.address).not.toMatch(/[\r\n\0]|\s$|^\s/)
      // Brackets only within quotes, where they end no path (RFC 5321 §4.1.2).
      if (!mailbox.local.startsWith('"')) expect(mailbox.address).not.toMatch(/[<>]/)
      expect(mailbox.address.endsWith(`@${mailbox.domain}`)).toBe(true)
      expect(toALabel(mailbox.domain)).toBe(mailbox.domain)
      expect(parseMailbox(formatMailbox(mailbox))).toEqual(mailbox)
      expect(parseMailbox(mailbox.address)?.address).toBe(mailbox.address)
    })
    fc.assert(run, {
      ...runs({ target: 'addresses', property: 'mailbox' }, 3_000, 11),
      examples: [['"<"@d.example'], ['">"@d.example']],
    })
  })
})
