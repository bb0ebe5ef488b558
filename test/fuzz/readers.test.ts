import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { feedCursor, pageAnswer, pageRequest } from '../../src/api/page.ts'
import { parseIsoTime } from '../../src/api/schema.ts'
import { readConfig } from '../../src/config.ts'
import { formatMailbox, parseMailbox, toALabel } from '../../src/mail/address.ts'
import { classifyReply } from '../../src/mail/bounce-class.ts'
import { unpackContent } from '../../src/mail/content.ts'
import { textFromHtml } from '../../src/mail/html-text.ts'
import { createReplyReader, formatReply, parseReplyLine, ReplyFault } from '../../src/mail/reply.ts'
import { createVerp } from '../../src/mail/verp.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { outcomeOf } from '../../src/outbound/outcome.ts'
import { createMintId, isId } from '../../src/platform/ids.ts'
import { systemRandom } from '../../src/platform/random.ts'
import { decodeBase64 } from '../../src/submission/checks.ts'
import { LIMIT_MS, runs } from './runs.ts'

/** Everything that reads text from outside: it reads it, or says no in the way it promises, and never hangs. */

setDefaultTimeout(LIMIT_MS)

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

  test('what is read names one recipient, without line ends, and reads the same again', () => {
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
    fc.assert(run, { ...runs(3_000, 11), examples: [['"<"@d.example'], ['">"@d.example']] })
  })
})

describe('replies of servers', () => {
  const line = fc.oneof(
    binary,
    fc
      .tuple(
        fc.integer({ min: 190, max: 610 }),
        fc.constantFrom(' ', '-', '', '\t'),
        fc.constantFrom('', '5.1.1 ', '4.2.2 ', '5.7.1', '5.999.999 '),
        fc.string({ maxLength: 40 }),
      )
      .map((parts) => parts.join('')),
  )
  const talk = fc.array(line, { maxLength: 12 }).map((lines) => `${lines.join('\r\n')}\r\n`)

  test('are read or are a fault, however they are cut, and a fault stays one', () => {
    const run = fc.property(
      talk,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      (text, sizes) => {
        expect(heard(text, sizes)).toEqual(heard(text, [text.length]))
      },
    )
    fc.assert(run, runs(1_000, 12))
  })

  test('each is classified and has an outcome, told in one printable line', () => {
    const run = fc.property(line, fc.constantFrom('greeting', 'mail', 'rcpt', 'data', 'content'), (text, stage) => {
      const parsed = parseReplyLine(text)
      if (parsed === null) return
      const { isLast: _, ...reply } = parsed
      expect(classifyReply(reply).class).toBeString()
      expect(formatReply(reply)).not.toMatch(/[\x00-\x1f\x7f]/)
      const outcome = outcomeOf({ kind: 'reply', stage: stage as 'rcpt', reply }, 'mx.example')
      expect(['delivered', 'deferred', 'bounced']).toContain(outcome.kind)
      if (outcome.kind === 'delivered') expect([stage, Math.floor(reply.code / 100)]).toEqual(['content', 2])
    })
    fc.assert(run, runs(1_000, 13))
  })
})

describe('tokens', () => {
  const verp = createVerp(new Uint8Array(32).fill(7))
  const mintId = createMintId({ now: () => 1_795_262_400_000, sleep: async () => {} }, systemRandom)

  test('a return path comes back in any letter case, and no other text is one', () => {
    const local = verp.encode(mintId('dlv'), 'bounce')
    const letters = '0123456789abcdefghjkmnpqrstvwxyz-'
    const change = fc.tuple(fc.nat(local.length - 1), fc.constantFrom(...letters))
    const run = fc.property(change, ([at, letter]) => {
      const id = mintId('dlv')
      const encoded = verp.encode(id, 'bounce')
      expect(verp.decode(encoded.toUpperCase())).toEqual({ kind: 'bounce', deliveryId: id })
      const forged = encoded.slice(0, at) + letter + encoded.slice(at + 1)
      expect(verp.decode(forged)).toEqual(forged === encoded ? { kind: 'bounce', deliveryId: id } : null)
    })
    fc.assert(run, runs(1_000, 14))
    fc.assert(
      fc.property(binary, (text) => expect(verp.decode(text)).toBeNull()),
      runs(1_000, 15),
    )
  })

  test('a cursor that we gave out is read, any other text is refused', () => {
    const run = fc.property(binary, (text) => {
      expect(() => pageRequest({ limit: 1, cursor: text })).toThrow(Refusal)
      try {
        expect(feedCursor(text)).toBeNull()
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    })
    fc.assert(run, runs(1_000, 16))
    const id = mintId('msg')
    const page = pageAnswer({ records: [{ id }], hasMore: true }, (record) => record)
    expect(pageRequest({ limit: 1, cursor: cursorOf(page) }).after).toBe(id)
    expect(isId('msg', id)).toBe(true)
  })

  test('a cursor with one changed letter is refused, or is another id', () => {
    const page = pageAnswer({ records: [{ id: mintId('msg') }], hasMore: true }, (record) => record)
    const cursor = cursorOf(page)
    const run = fc.property(fc.nat(cursor.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) => {
      try {
        const { after } = pageRequest({ limit: 1, cursor: cursor.slice(0, at) + letter + cursor.slice(at + 1) })
        expect(after).toMatch(/^[a-z]{3}_[0-9a-z]{26}$/)
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    })
    fc.assert(run, runs(1_000, 17))
  })
})

describe('other text', () => {
  test('base64 is what the strict decoder takes, and nothing else', () => {
    const letters = fc.array(fc.constantFrom('A', 'b', '+', '/', '=', '-', '_', '9', '\n', ' ', 'Q', '==', '*'), {
      maxLength: 12,
    })
    const given = fc.oneof(
      fc.base64String(),
      letters.map((parts) => parts.join('')),
      binary,
    )
    const run = fc.property(given, (text) => {
      expect(hexOf(decodeBase64(text))).toBe(hexOf(strictBase64(text)))
    })
    fc.assert(run, {
      ...runs(5_000, 18),
      // Once decoded by the low bytes of its characters.
      examples: [['\u{22c2f}/+///+'], ['\u{e2b6d}A/+//+'], ['QUJ\u0144'], ['QUJD\nQUJD'], ['AB==']],
    })
  })

  test('a time is read as the instant it names, or not at all', () => {
    const digits = fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/)
    const run = fc.property(fc.oneof(digits, binary), (text) => {
      const at = parseIsoTime(text)
      if (at !== null) expect(Number.isNaN(new Date(at).getTime())).toBe(false)
    })
    fc.assert(run, runs(1_000, 19))
    const date = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31T23:59:59Z') })
    fc.assert(
      fc.property(date, (at) => expect(parseIsoTime(at.toISOString())).toBe(at.getTime())),
      runs(100, 20),
    )
  })

  test('html of any shape becomes text, soon', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      '<!--',
      '-->',
      '<p>',
      '<td>',
      '<a href="',
      '"',
      '&',
      '&#',
      'x41;',
      '&amp;',
      '<pre>',
      '</pre>',
      '<script>',
      '<style',
      ' ',
      '\n',
      'a',
      'ü',
      '<![CDATA[',
      '<ol><li>',
      '\0',
    )
    const html = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(html, (text) => expect(textFromHtml(text)).toBeString()),
      runs(1_000, 21),
    )
  })

  test('stored content that was damaged is noticed', () => {
    const run = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => unpackContent(bytes)).toThrow()
    })
    fc.assert(run, runs(1_000, 22))
  })

  test('config text is a config or a list of faults, each with words', () => {
    const value = fc.oneof(
      fc.integer().map(String),
      fc.double({ noNaN: true }).map(String),
      fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)),
      fc.constantFrom('true', '[]', '[1, "a"]', '{}', '{ a = 1 }', '1979-05-27', 'nan', '[[[]]]'),
    )
    const name = fc.constantFrom(
      'hostname',
      'data_dir',
      'http',
      'listen',
      'http.listen',
      'delivery.port',
      'delivery.smarthost',
      'plans.free.domains',
      'plans.x',
      'dns.servers',
      '[http]',
      '[plans.own]',
      '[[http]]',
      '__proto__',
      'constructor',
      '"a b"',
      '',
      '#',
    )
    const pair = fc.tuple(name, value).map(([key, text]) => (key.startsWith('[') ? key : `${key} = ${text}`))
    const file = fc.oneof(
      binary,
      fc.array(fc.oneof(pair, binary), { maxLength: 8 }).map((rows) => rows.join('\n')),
    )
    const run = fc.property(file, (text) => {
      const { config, faults } = readConfig({ text, file: 'x.toml', env: {} })
      if (config) return
      expect(faults!.length).toBeGreaterThan(0)
      for (const { message } of faults!) expect(message).toMatch(/\S/)
    })
    fc.assert(run, runs(500, 23))
  })

  test('so are variables of the environment', () => {
    const name = fc.constantFrom(
      'POSTRIDER_HOSTNAME',
      'POSTRIDER_HTTP_LISTEN',
      'POSTRIDER_DELIVERY_PORT',
      'POSTRIDER_DNS_SERVERS',
      'POSTRIDER_X',
      'POSTRIDER_',
      'POSTRIDER_PLANS_FREE_DOMAINS',
      'POSTRIDER_DELIVERY_SMARTHOST_FILE',
    )
    const run = fc.property(fc.dictionary(name, fc.string({ unit: 'binary', maxLength: 30 })), (env) => {
      const { config, faults } = readConfig({ text: 'hostname = "mail.example.com"', file: 'x.toml', env })
      expect((config === undefined || config === null) === (faults !== undefined && faults !== null)).toBe(true)
    })
    fc.assert(run, runs(500, 24))
  })
})

/** Replies and the fault at their end, of text that comes in pieces. */
function heard(text: string, sizes: readonly number[]): unknown[] {
  const reader = createReplyReader({ maxBytes: 2_000 })
  const found: unknown[] = []
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length]!
    try {
      found.push(...reader.push(text.slice(at, at + size)))
    } catch (error) {
      if (!(error instanceof ReplyFault)) throw error
      expect(() => reader.push('250 ok\r\n')).toThrow(error)
      return [...found, ...error.replies, error.reason]
    }
    at += size
  }
  return found
}

function strictBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}

const cursorOf = (page: { body: unknown }) => (page.body as { next_cursor: string }).next_cursor
const hexOf = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('hex'))
