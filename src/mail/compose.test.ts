import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type AddressObject, simpleParser } from 'mailparser'
import { type Mailbox, parseMailbox } from './address.ts'
import { compose, composedSizeBytes, isComposedHeader } from './compose.ts'
import type { Attachment, MailContent } from './content.ts'

const GOLDEN = new URL('../../test/golden/composed.eml', import.meta.url)
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
)

describe('composed mail', () => {
  test('equals the golden file for a message with every feature', async () => {
    const golden = new Uint8Array(await Bun.file(GOLDEN).arrayBuffer())
    expect(Buffer.from(compose(everything())).toString()).toBe(Buffer.from(golden).toString())
  })

  test('is identical each time and differs only in its boundary for another seed', () => {
    expect(compose(everything())).toEqual(compose(everything()))
    const other = { ...everything(), boundarySeed: 'other' }
    const masked = (content: MailContent) => textOf(content).replace(/=_[0-9a-f]{32}_/g, '')
    expect(textOf(other)).not.toBe(textOf(everything()))
    expect(masked(other)).toBe(masked(everything()))
  })

  test('has headers in a fixed order, custom ones after Message-ID', () => {
    const names = textOf(everything())
      .split('\r\n\r\n')[0]!
      .match(/^[^\s:]+(?=:)/gm)
    expect(names).toEqual([
      'From',
      'To',
      'Cc',
      'Reply-To',
      'Subject',
      'Date',
      'Message-ID',
      'X-Campaign',
      'References',
      'MIME-Version',
      'Content-Type',
    ])
  })

  test('is 7-bit with CRLF and short lines, and has the exact computed size, for arbitrary strings', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3000 })
    const line = fc.string({ unit: 'grapheme', maxLength: 300 })
    const longWord = fc.integer({ min: 1, max: 3000 }).map((length) => 'x'.repeat(length))
    const any = fc.oneof(
      text,
      line,
      longWord,
      fc.array(fc.oneof(line, longWord, fc.constant('\r'))).map((a) => a.join('\n')),
    )
    const value = fc.oneof(line, longWord).map((each) => each.replace(/[\r\n\0]/g, ''))
    fc.assert(
      fc.property(any, fc.option(any), fc.option(any), any, value, (subject, html, body, name, header) => {
        const content = mail({
          subject,
          html,
          text: body,
          from: mailbox('a@own.example', name.replace(/[\r\n\0]/g, '')),
          headers: [['X-Any', header]],
          attachments: [file(name, Buffer.from(subject))],
        })
        expectWellFormed(content)
        expectWellFormed({ ...content, attachments: [] })
      }),
      { numRuns: 300, seed: 7 },
    )
  })

  test('uses no boundary that a body contains, even if the seed was guessed', async () => {
    const boundary = /boundary="(.*)a"/.exec(textOf(mail({ text: 'x', html: 'y' })))![1]
    const text = `before\n--${boundary}a--\nafter`
    const parsed = await simpleParser(Buffer.from(compose(mail({ text, html: '<p>y</p>' }))))
    expect(parsed.text).toBe(text)
    expect(parsed.html).toBe('<p>y</p>')
  })
})

describe('a mail reader decodes', () => {
  const nasty = {
    ascii: 'Your order has shipped',
    'ascii that folds': 'word '.repeat(60).trim(),
    umlauts: 'Ihre Bestellung ist unterwegs – schöne Grüße',
    'long umlauts': 'Größenänderung über Straße '.repeat(20).trim(),
    chinese: '您的订单已发货，感谢您的购买。'.repeat(12),
    emoji: '👩‍👩‍👧‍👦 🇩🇪 party 🎉'.repeat(8),
    'right to left': 'שלום עולם ‏(1) مرحبا بالعالم',
    'long word': 'x'.repeat(1000),
    'two long words': `${'x'.repeat(80)} ${'y'.repeat(80)}`,
    'looks encoded': '=?UTF-8?Q?not_really?= =?x',
    'the longest file name': '漢'.repeat(255),
    specials: '"quoted", <b> (c) @ \\ ; : = _ ? %',
  }

  test.each(Object.entries(nasty))('subject, name and file name: %s', async (_, text) => {
    const content = mail({ subject: text, from: mailbox('a@own.example', text), attachments: [file(text, PIXEL)] })
    const parsed = await read(content)
    expect(parsed.subject).toBe(text)
    expect(parsed.from?.value[0]).toEqual({ address: 'a@own.example', name: text })
    // This reader decodes a file name once too often, whatever its form.
    if (!text.startsWith('=?')) expect(parsed.attachments[0]?.filename).toBe(text)
    expect(parsed.attachments[0]?.content.equals(PIXEL)).toBe(true)
  })

  test.each(Object.entries(nasty))('text and html: %s', async (_, line) => {
    const text = `${line}\n\n.${line}\n`
    const parsed = await read(mail({ text, html: `<p>${line}</p>\n` }))
    expect(parsed.text).toBe(text)
    expect(parsed.html).toBe(`<p>${line}</p>\n`)
    expect((await read(mail({ text: line }))).text?.trimEnd()).toBe(line)
  })

  test('spaces at the edges and in runs of a subject, and a space for its line ends', async () => {
    expect(textOf(mail({ subject: ' a  b ' }))).toContain('Subject: =?UTF-8?Q?_a__b_?=\r\n')
    expect(textOf(mail({ subject: 'a\r\nBcc: eve@evil.example' }))).toContain('Subject: a Bcc: eve@evil.example\r\n')
  })

  test('lone CR, lone LF and CRLF as line ends, and no NUL', async () => {
    expect((await read(mail({ text: 'a\rb\nc\r\nd\0e\r\r\n' }))).text).toBe('a\nb\nc\nde\n\n')
    expect((await read(mail({ text: 'ä\rb\nc\r\nd\0e\r\r\n' }))).text).toBe('ä\nb\nc\nde\n\n')
  })

  test('a thousand-character word and blanks at line ends in quoted-printable', async () => {
    const text = `${'w'.repeat(1000)}\nü \nb\t\n= =20\n${'é'.repeat(30)}${'-'.repeat(300)} `
    expect(textOf(mail({ text }))).toContain('quoted-printable')
    expect((await read(mail({ text, html: '' }))).text).toBe(text)
  })

  test('an empty html part, and an empty text part when there is nothing at all', async () => {
    expect(textOf(mail({ text: null, html: '' }))).toEndWith(
      'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n',
    )
    expect(textOf(mail({ text: null, html: null }))).toContain('Content-Type: text/plain')
    expect((await read(mail({ text: 'x', html: '' }))).text).toBe('x')
  })

  test('long lists of recipients, one line for each name that does not fit', async () => {
    const to = Array.from({ length: 100 }, (_, n) =>
      mailbox(`person.${n}@other.example`, n % 2 ? `Jürgen, ${n}` : null),
    )
    const parsed = await read(
      mail({ to, cc: [mailbox('cc@other.example', 'C C')], replyTo: [mailbox('r@own.example', null)] }),
    )
    expect((parsed.to as AddressObject).value).toEqual(
      to.map((each) => ({ address: each.address, name: each.name ?? '' })),
    )
    expect((parsed.cc as AddressObject).value).toEqual([{ address: 'cc@other.example', name: 'C C' }])
    expect(parsed.replyTo?.value[0]?.address).toBe('r@own.example')
  })

  test('custom headers, folded, encoded or long', async () => {
    const references = Array.from({ length: 20 }, (_, n) => `<message.${n}@own.example>`).join(' ')
    const url = `<https://own.example/u/${'t'.repeat(900)}>`
    const parsed = await read(
      mail({
        headers: [
          ['References', references],
          ['X-Link', url],
          ['X-Umlaut', 'Grüße'],
          ['X-Empty', ''],
          ['X-Spaces', 'a  b   c'],
        ],
      }),
    )
    expect(parsed.references).toEqual(references.split(' '))
    expect(parsed.headers.get('x-link')).toBe(url)
    expect(parsed.headerLines.find(({ key }) => key === 'x-umlaut')?.line).toBe('X-Umlaut: =?UTF-8?B?R3LDvMOfZQ==?=')
    expect(parsed.headerLines.find(({ key }) => key === 'x-empty')?.line.trim()).toBe('X-Empty:')
  })
})

describe('structure', () => {
  test('puts only referenced attachments beside the html, the others around it', () => {
    const text = textOf(everything())
    const types = [...text.matchAll(/^Content-Type: ([a-z]+\/[a-z-]+)/gim)].map((match) => match[1]!)
    expect(types).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'multipart/related',
      'text/html',
      'image/png',
      'application/pdf',
    ])
    expect(text).toContain('Content-ID: <logo@own.example>')
    expect(textOf({ ...everything(), html: '<p>no image</p>' })).not.toContain('multipart/related')
  })

  test.each([
    ['<img src="cid:logo">', 'logo', true],
    ['<img src="CID:logo">', 'logo', true],
    ["<img src=' cid:logo '>", 'logo', true],
    ['<img src=cid:logo>', 'logo', true],
    ['<img src="cid:a&amp;b">', 'a&b', true],
    ['<img src="cid:a%26b">', 'a&b', true],
    ['<img src="cid:logo%40own.example">', 'logo@own.example', true],
    ['<img src="cid:50%25">', '50%', true],
    ['<img src="cid:a(1),b">', 'a(1),b', true],
    ['<img srcset="cid:logo 1x, cid:big 2x">', 'big', true],
    ['<td background="cid:logo">', 'logo', true],
    ['<td style="background:url(cid:logo) red">', 'logo', true],
    ['<td style="background:url(&quot;cid:logo&quot;)">', 'logo', true],
    ["<style>p{background:url('cid:logo')}</style>", 'logo', true],
    ['<img src="cid:logo2">', 'logo', false],
    ['<img src="cid:logo.png">', 'logo', false],
    ['<img src="cid:logo@own.example">', 'logo', false],
    ['<img src="cid:big-logo">', 'logo', false],
    ['<img src="cid:Logo">', 'logo', false],
    ['<p>placid:logo</p>', 'logo', false],
  ])('in %s the file %s is shown: %p', (html, contentId, isShown) => {
    const text = textOf(mail({ html, attachments: [{ ...file('x.png', PIXEL), contentId }] }))
    expect(text.includes('multipart/related')).toBe(isShown)
    expect(text.includes('Content-Disposition: inline')).toBe(isShown)
  })

  test('relabels types that cannot be base64 or are none, and keeps parameters', () => {
    const type = (contentType: string) =>
      /Content-Type: ((?!multipart|text\/plain)[\s\S]*?)\r\nContent-Transfer/
        .exec(textOf(mail({ attachments: [{ ...file('x', PIXEL), contentType }] })))![1]!
        .replaceAll('\r\n', '')
    expect(type('message/rfc822')).toBe('application/octet-stream; name="x"')
    expect(type('image/png\r\nX-Evil: 1')).toBe('application/octet-stream; name="x"')
    expect(type('nonsense')).toBe('application/octet-stream; name="x"')
    expect(type('text/calendar; method=REQUEST; charset="utf-8"; name=y; a=b\r\nc')).toBe(
      'text/calendar; method=REQUEST; charset="utf-8"; name="x"',
    )
  })

  // threat: header-and-recipient-injection
  test('keeps line ends out of every field that comes from an attachment', () => {
    const evil = '\r\nX-Evil: 1\r\n\r\n'
    const content = mail({
      html: `<img src="cid:a${evil}">ü`,
      attachments: [
        { filename: `ä${evil}`, contentType: `image/png; a=b${evil}`, contentId: `a${evil}`, content: PIXEL },
      ],
    })
    expect(textOf(content).replace('"cid:a\r\nX-Evil', '')).not.toMatch(/^X-Evil/m)
    expectWellFormed(content)
  })
})

describe('compose refuses', () => {
  test.each([
    ['X-A', 'a\r\nBcc: eve@evil.example'],
    ['X-A', 'a\nb'],
    ['X-A', 'a\rb'],
    ['X-A', 'a\0b'],
    ['X A', 'a'],
    ['X-A:', 'a'],
    ['', 'a'],
    ['X-Ä', 'a'],
    ['X-A\r\nBcc', 'a'],
    ['Bcc', 'eve@evil.example'],
    ['bCC', 'eve@evil.example'],
    ['From', 'eve@evil.example'],
    ['Content-Type', 'text/plain'],
    ['MIME-Version', '1.0'],
  ])('the header %j: %j', (name, value) => {
    expect(() => compose(mail({ headers: [[name, value]] }))).toThrow()
    expect(() => composedSizeBytes(mail({ headers: [[name, value]] }))).toThrow()
  })

  test('a message id with a line end or without brackets, and no date', () => {
    expect(() => compose(mail({ messageId: '<a@b>\r\nX: y' }))).toThrow()
    expect(() => compose(mail({ messageId: 'a@b' }))).toThrow()
    expect(() => compose(mail({ dateAt: Number.NaN }))).toThrow()
  })

  test('recognizes its own headers in any letter case', () => {
    expect(['FROM', 'Message-Id', 'content-TYPE', 'Content-ID', 'Resent-Bcc'].every(isComposedHeader)).toBe(true)
    expect(
      ['X-From', 'List-Unsubscribe', 'In-Reply-To', 'Content-Language', 'Content-Duration'].some(isComposedHeader),
    ).toBe(false)
  })
})

test('writes an address with a UTF-8 local part raw only in its header', () => {
  const content = mail({ to: [mailbox('jürgen@other.example', 'Jürgen')], subject: 'Grüße' })
  const raw = textOf(content)
  expect(raw).toContain('To: =?UTF-8?Q?J=C3=BCrgen?= <jürgen@other.example>\r\n')
  expect(raw.replace('jürgen@', '')).toMatch(/^[\x00-\x7f]*$/)
  expect(composedSizeBytes(content)).toBe(compose(content).length)
})

function mail(change: Partial<MailContent> = {}): MailContent {
  return {
    from: mailbox('a@own.example', 'Ann'),
    to: [mailbox('b@other.example', null)],
    cc: [],
    replyTo: [],
    subject: 'Hello',
    dateAt: 1_790_000_000_000,
    messageId: '<1@own.example>',
    html: null,
    text: change.html === undefined ? 'Hello' : null,
    headers: [],
    attachments: [],
    boundarySeed: 'seed',
    ...change,
  }
}

function everything(): MailContent {
  return mail({
    from: parseMailbox('"Müller, Jürgen" <shop@own.example>')!,
    to: [parseMailbox('bob@other.example')!, parseMailbox('Dr. Zoë <zoe@other.example>')!],
    cc: [parseMailbox('Carol <carol@xn--bcher-kva.example>')!],
    replyTo: [parseMailbox('help@own.example')!],
    subject: 'Ihre Bestellung 4711 – schöne Grüße aus Köln 🎉 und vielen Dank für Ihr Vertrauen',
    text: 'Hallo Zoë,\n\nIhre Bestellung ist unterwegs.\n',
    html: '<p>Hallo Zoë,</p>\n<img src="cid:logo@own.example" alt="Logo">\n',
    headers: [
      ['X-Campaign', 'Herbst – früh'],
      ['References', '<first.message.of.this.thread@own.example> <second.message.of.this.thread@own.example>'],
    ],
    attachments: [
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo@own.example', content: PIXEL },
      {
        filename: 'Rechnung für März.pdf',
        contentType: 'application/pdf',
        contentId: null,
        content: Buffer.from('%PDF-1.4\n'.repeat(20)),
      },
    ],
  })
}

function mailbox(address: string, name: string | null): Mailbox {
  return { ...parseMailbox(address)!, name }
}

function file(filename: string, content: Uint8Array): Attachment {
  return { filename, contentType: 'image/png', contentId: null, content }
}

function textOf(content: MailContent): string {
  return Buffer.from(compose(content)).toString()
}

async function read(content: MailContent) {
  expectWellFormed(content)
  return simpleParser(Buffer.from(compose(content)), { skipHtmlToText: true, skipTextToHtml: true })
}

function expectWellFormed(content: MailContent): void {
  const raw = compose(content)
  const text = Buffer.from(raw).toString('latin1')
  expect(text).not.toMatch(/[^\x01-\x7f]/)
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
  expect(text).toEndWith('\r\n')
  expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998)
  expect(composedSizeBytes(content)).toBe(raw.length)
}
