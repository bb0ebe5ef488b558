import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { expectCostUnder, slowness } from '../../test/support/cpu-cost.ts'
import { fileName } from './file-name.ts'
import { parseAttachments, parseMail } from './parse.ts'

const never = new Promise<never>(() => {})
const mail = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`)
const parsed = async (raw: Buffer) => parseMail(raw, never)

const MIXED = mail(
  'From: =?utf-8?q?J=C3=BCrgen?= <j@a.example>',
  'Subject: =?utf-8?b?R3LDvMOfZQ==?=',
  ' again',
  'Received: one',
  'Received: two',
  'Message-ID: <1@a.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=m',
  '',
  '--m',
  'Content-Type: multipart/related; boundary=r',
  '',
  '--r',
  'Content-Type: multipart/alternative; boundary=a',
  '',
  '--a',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=FC=DFe http://a.example',
  '--a',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Grüße <img src="cid:pic"></p>',
  '--a--',
  '--r',
  'Content-Type: image/png',
  'Content-ID: <pic>',
  'Content-Disposition: inline',
  'Content-Transfer-Encoding: base64',
  '',
  'aGVsbG8=',
  '--r--',
  '--m',
  'Content-Type: application/pdf; name="x.pdf"',
  "Content-Disposition: attachment; filename*=UTF-8''%E2%82%AC%20rates.pdf",
  'Content-Transfer-Encoding: base64',
  '',
  'AAECAwQ=',
  '--m',
  'Content-Type: message/rfc822',
  '',
  'Subject: inner',
  '',
  'inner body',
  '--m--',
)

describe('a mail as the payload shows it', () => {
  test('has its texts, headers and attachments, the inline picture among them and the attached mail whole', async () => {
    const { parsed: shown, parseError } = await parsed(MIXED)
    expect(parseError).toBeNull()
    expect(shown.textBody).toBe('Grüße http://a.example')
    expect(shown.htmlBody).toBe('<p>Grüße <img src="cid:pic"></p>')
    expect(shown.headers).toEqual({
      from: 'Jürgen <j@a.example>',
      subject: 'Grüße again',
      received: 'one\ntwo',
      'message-id': '<1@a.example>',
      'mime-version': '1.0',
      'content-type': 'multipart/mixed; boundary=m',
    })
    expect(shown.attachments).toEqual([
      { filename: 'attachment-1.png', contentType: 'image/png', sizeBytes: 5, contentId: 'pic' },
      { filename: '€ rates.pdf', contentType: 'application/pdf', sizeBytes: 5, contentId: null },
      { filename: 'attachment-3.eml', contentType: 'message/rfc822', sizeBytes: 28, contentId: null },
    ])
  })

  test('the contents of the attachments come in the same order', async () => {
    const contents = await parseAttachments(MIXED, never)
    expect(contents.map(String)).toEqual(['hello', '\0\x01\x02\x03\x04', 'Subject: inner\r\n\r\ninner body'])
  })

  test('a plain mail without MIME is text, an html mail is only html', async () => {
    expect((await parsed(mail('Subject: x', '', 'Hello', 'you'))).parsed.textBody).toBe('Hello\nyou\n')
    const html = (await parsed(mail('Content-Type: text/html', '', '<p>x</p>'))).parsed
    expect([html.textBody, html.htmlBody]).toEqual(['', '<p>x</p>\n'])
  })

  test('a delivery report is an attachment, not text', async () => {
    const raw = mail(
      'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
      '',
      '--b',
      '',
      'It bounced.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; a',
      '--b--',
    )
    const shown = (await parsed(raw)).parsed
    expect(shown.textBody).toBe('It bounced.')
    expect(shown.attachments).toEqual([
      { filename: 'attachment-1.txt', contentType: 'message/delivery-status', sizeBytes: 21, contentId: null },
    ])
  })

  test.each(['', '\r\n', 'garbage', 'A', '\r\n\r\nbody', 'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x'])(
    'any input is a mail: %j',
    async (raw) => {
      expect((await parsed(Buffer.from(raw))).parseError).toBeNull()
    },
  )
})

/** Texts, then name, type and content of each attachment. */
async function read(raw: Buffer): Promise<unknown[]> {
  const { parsed: shown, parseError } = await parsed(raw)
  expect(parseError).toBeNull()
  const contents = await parseAttachments(raw, never)
  expect(contents.map(({ length }) => length)).toEqual(shown.attachments.map(({ sizeBytes }) => sizeBytes))
  const attachments = shown.attachments.map(({ filename, contentType }, at) => [
    filename,
    contentType,
    contents[at]!.toString('latin1'),
  ])
  return [shown.textBody, shown.htmlBody, ...attachments]
}

const PDF = ['Content-Type: application/pdf; name=a.pdf', 'Content-Transfer-Encoding: base64', '', 'QUJD']
const UUENCODED = (name: string) => [`begin 644 ${name}`, '#0V%T', '`', 'end']
const mixed = (...lines: string[]) => mail('Content-Type: multipart/mixed; boundary=b', '', ...lines)

describe('real-world mail: no part is lost', () => {
  test.each<[string, Buffer, unknown[]]>([
    [
      'padding behind a delimiter (RFC 2046 §5.1.1)',
      mixed('--b  \t', '', 'Hello', '--b \t ', ...PDF, '--b-- \t'),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'an outer delimiter while an inner multipart is open (RFC 2046 §5.1.2)',
      mixed(
        '--b',
        'Content-Type: multipart/alternative; boundary=bb',
        '',
        '--bb',
        '',
        'Hello',
        '--bb',
        'Content-Type: text/html',
        '',
        '<p>Hello',
        '--b',
        ...PDF,
        '--b--',
      ),
      ['Hello', '<p>Hello', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a type without a subtype',
      mixed('--b', 'Content-Type: text', '', 'Hello', '--b', ...PDF, '--b--'),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a type with a parameter but no semicolon',
      mail('Content-Type: text/html charset=iso-8859-1', '', '<p>Hello'),
      ['', '<p>Hello\n'],
    ],
    [
      'multipart without a subtype',
      mail('Content-Type: multipart; boundary=b', '', '--b', '', 'Hello', '--b', ...PDF, '--b--'),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a part without header and empty line',
      mixed('--b', 'Hello', 'you', '', 'there', '--b', ...PDF, '--b--'),
      ['Hello\nyou\n\nthere', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a part without header that begins like one',
      mixed('--b', 'Note: this is', 'no header', '', 'at all', '--b--'),
      ['Note: this is\nno header\n\nat all', ''],
    ],
    [
      'a part without the empty line behind its header',
      mixed('--b', 'Content-Type: text/html', '<p>Hello', '', 'you', '--b--'),
      ['', '<p>Hello\n\nyou'],
    ],
    [
      'a header with a fold that lost its blank',
      mixed(
        '--b',
        'Content-Type: application/pdf;',
        'name=a.pdf',
        'Content-Transfer-Encoding: base64',
        '',
        'QUJD',
        '--b--',
      ),
      ['', '', ['attachment-1.pdf', 'application/pdf', 'ABC']],
    ],
    ...[
      ['Content-Disposition: attachment;', 'filename="a.pdf"'],
      ['Content-Disposition: attachment; filename="a', 'b.pdf"'],
    ].map((lines): [string, Buffer, unknown[]] => [
      `a file whose header ends with a fold that lost its blank: ${lines[1]}`,
      mixed('--b', 'Content-Transfer-Encoding: base64', ...lines, '', 'QUJD', '--b--'),
      ['', '', [expect.any(String), 'application/octet-stream', 'ABC']],
    ]),
    [
      'a text whose header ends with a fold that lost its blank',
      mixed('--b', 'Content-Type: text/plain;', 'charset=utf-8', '', 'Hello', '', 'you', '--b--'),
      ['Hello\n\nyou', ''],
    ],
    [
      'a file in base64 without the empty line behind its header',
      mixed('--b', 'Content-Type: a/b', 'Content-Transfer-Encoding: base64', 'QUJD', 'REVG', '', '--b--'),
      ['', '', ['attachment-1.bin', 'a/b', 'ABCDEF']],
    ],
    [
      'a multipart without the empty line behind its header',
      mail('Content-Type: multipart/mixed; boundary=b', '--b', '', 'Hello', '--b', ...PDF, '--b--'),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a mail without the empty line behind its header',
      mail('Subject: x', 'Hello you', 'there'),
      ['Hello you\nthere\n', ''],
    ],
    [
      'a boundary that is not the one of the delimiters',
      mail(
        'Content-Type: multipart/mixed; boundary="other"',
        '',
        'preamble',
        '--b',
        '',
        'Hello',
        '--b',
        ...PDF,
        '--b--',
      ),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'a boundary with a blank at its end',
      mail('Content-Type: multipart/mixed; boundary="b "', '', '--b', '', 'Hello', '--b--'),
      ['Hello', ''],
    ],
    [
      'a boundary that begins with another and has dashes behind it',
      mixed(
        '--b',
        'Content-Type: multipart/mixed; boundary=b--c',
        '',
        '--b--c',
        '',
        'Hello',
        '--b--c--',
        '--b',
        ...PDF,
        '--b--',
      ),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    [
      'an inner multipart with the boundary of the outer one',
      mixed(
        '--b',
        'Content-Type: multipart/alternative; boundary="b"',
        '',
        '--b',
        '',
        'Hello',
        '--b',
        'Content-Type: text/html',
        '',
        '<p>Hello',
        '--b--',
        'epilogue',
        '--b',
        ...PDF,
        '--b--',
        'epilogue',
        '--b',
        '',
        'no',
      ),
      ['Hello', '<p>Hello', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    ...[
      `Content-Type: multipart/mixed; boundary="${'x'.repeat(300)}"`,
      `Content-Type: ; boundary="${'x'.repeat(300)}"`,
      `Content-Type: (a comment) (another) multipart/mixed; boundary="${'x'.repeat(300)}"`,
    ].map((field): [string, Buffer, unknown[]] => [
      `a long boundary in ${field.slice(0, 40)}`,
      mail(
        field,
        '',
        `--${'x'.repeat(300)}`,
        'Content-Transfer-Encoding: (a comment) base64',
        '',
        'SGVsbG8=',
        `--${'x'.repeat(300)}`,
        ...PDF,
        `--${'x'.repeat(300)}--`,
      ),
      ['Hello', '', ['a.pdf', 'application/pdf', 'ABC']],
    ]),
    ['a multipart without delimiters', mixed('Hello', '-- ', 'me'), ['Hello\n-- \nme\n', '']],
    [
      'a multipart in base64',
      mail(
        'Content-Type: multipart/mixed; boundary=b',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('--b\r\n\r\nHello\r\n--b--').toString('base64'),
      ),
      ['Hello', ''],
    ],
    [
      'x-uuencode, which names the file',
      mixed(
        '--b',
        'Content-Type: image/gif',
        'Content-Transfer-Encoding: x-uuencode',
        '',
        'begin 644 cat.gif',
        '#0V%T',
        '`',
        'end',
        '--b--',
      ),
      ['', '', ['cat.gif', 'image/gif', 'Cat']],
    ],
    [
      'x-uuencode with two files and text around them',
      mixed(
        '--b',
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: x-uuencode',
        '',
        'Hello',
        ...UUENCODED('a.pdf'),
        'Bye',
        '',
        ...UUENCODED('b.unknown'),
        '--b--',
      ),
      ['Hello\n\nBye\n\n', '', ['a.pdf', 'application/pdf', 'Cat'], ['b.unknown', 'application/octet-stream', 'Cat']],
    ],
    [
      'x-uuencode of an image with a second file and text behind it',
      mixed(
        '--b',
        'Content-Type: image/gif; name=x.gif',
        'Content-Transfer-Encoding: x-uuencode',
        '',
        ...UUENCODED('a.gif').slice(0, -1),
        ...UUENCODED('b.pdf'),
        'Bye',
        '--b--',
      ),
      ['Bye', '', ['x.gif', 'image/gif', 'Cat'], ['b.pdf', 'application/pdf', 'Cat']],
    ],
    [
      'x-uuencode of the text itself, and of an attached one',
      mixed(
        '--b',
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: x-uuencode',
        '',
        ...UUENCODED('a.txt'),
        '--b',
        'Content-Type: text/plain',
        'Content-Disposition: attachment; filename=b.txt',
        'Content-Transfer-Encoding: uuencode',
        '',
        ...UUENCODED('a.pdf'),
        '--b--',
      ),
      ['Cat', '', ['b.txt', 'text/plain', 'Cat']],
    ],
    [
      'MacBinary, BinHex, AppleDouble and winmail.dat',
      mixed(
        '--b',
        'Content-Type: application/x-macbinary; name=a.bin',
        '',
        '1',
        '--b',
        'Content-Type: application/mac-binhex40; name=a.hqx',
        '',
        '2',
        '--b',
        'Content-Type: multipart/appledouble; boundary=c',
        '',
        '--c',
        'Content-Type: application/applefile; name="%a.txt"',
        '',
        '3',
        '--c',
        'Content-Type: text/plain; name=a.txt',
        'Content-Disposition: attachment',
        '',
        '4',
        '--c--',
        '--b',
        'Content-Type: application/ms-tnef; name="winmail.dat"',
        '',
        '5',
        '--b--',
      ),
      [
        '',
        '',
        ['a.bin', 'application/x-macbinary', '1'],
        ['a.hqx', 'application/mac-binhex40', '2'],
        ['%a.txt', 'application/applefile', '3'],
        ['a.txt', 'text/plain', '4'],
        ['winmail.dat', 'application/ms-tnef', '5'],
      ],
    ],
    [
      'a named text behind the body, but not one in an alternative',
      mixed(
        '--b',
        'Content-Type: multipart/alternative; boundary=c',
        '',
        '--c',
        'Content-Type: text/plain; name=body.txt',
        '',
        'Hello',
        '--c',
        'Content-Type: text/html; name=body.html',
        '',
        '<p>Hello',
        '--c--',
        '--b',
        'Content-Type: text/plain; name=log.txt',
        'Content-Disposition: inline',
        '',
        'a log',
        '--b',
        '',
        'a footer',
        '--b--',
      ),
      ['Hello\na footer', '<p>Hello', ['log.txt', 'text/plain', 'a log']],
    ],
    [
      'names of any form',
      mixed(
        '--b',
        'Content-Type: application/pdf; name=my file.pdf',
        '',
        '1',
        '--b',
        'Content-Disposition: attachment; filename="C:\\tmp\\a \\"b\\".pdf"',
        '',
        '2',
        '--b',
        'Content-Disposition: attachment; filename="x.pdf"; filename*=utf-8\'\'%E2%82%AC.pdf',
        '',
        '3',
        '--b',
        'Content-Disposition: attachment; filename*0="=?utf-8?q?=E2=82"; filename*1="=AC?=.pdf"',
        '',
        '4',
        '--b--',
      ),
      [
        '',
        '',
        ['my file.pdf', 'application/pdf', '1'],
        ['C:_tmp_a "b".pdf', 'application/pdf', '2'],
        ['€.pdf', 'application/pdf', '3'],
        ['€.pdf', 'application/pdf', '4'],
      ],
    ],
    [
      'text in charsets that mails use',
      mixed(
        '--b',
        'Content-Type: text/plain; charset=utf-7',
        '',
        'Gr+APw-n',
        '--b',
        'Content-Type: text/plain; charset=cp850',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'gr=81n',
        '--b--',
      ),
      ['Grün\ngrün', ''],
    ],
    [
      'flowed text',
      mail('Content-Type: text/plain; format=flowed; delsp=yes', '', 'One \r\ntwo', '> three \r\n> four'),
      ['Onetwo\n> three \n> four\n', ''],
    ],
    [
      'lines that end in CR CR LF',
      Buffer.from(
        mixed('--b', '', 'Hello', 'you', '--b', ...PDF, '--b--')
          .toString()
          .replaceAll('\r\n', '\r\r\n'),
      ),
      ['Hello\nyou', '', ['a.pdf', 'application/pdf', 'ABC']],
    ],
    ['lines that end in CR alone', Buffer.from('Content-Type: text/html\r\r<p>\rHello'), ['', '<p>\nHello']],
  ])('%s', async (_, raw, expected) => {
    const before = Buffer.from(raw)
    expect(await read(raw)).toEqual(expected)
    expect(raw.equals(before)).toBe(true)
    expect(await read(Buffer.from(raw.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'))).toEqual(expected)
  })

  test('decodes Japanese text in a mail with a large attachment', async () => {
    const raw = mixed(
      '--b',
      'Content-Type: text/plain; charset=iso-2022-jp',
      '',
      '\x1b$B%F%9%H\x1b(B',
      '--b',
      'Content-Type: application/pdf',
      '',
      'x'.repeat(1_100_000),
      '--b--',
    )
    expect((await parsed(raw)).parsed.textBody).toBe('テスト')
  })

  test('reads well-formed mail like mailparser', async () => {
    const word = fc.constantFrom('Hello', ' ', 'ü', '=', '--b', '-', '.', '\r\n', '\r\n\r\n', '€', '<p>', 'QUJD')
    const body = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => `${words.join('')}.`)
    const encoding = fc.constantFrom('8bit', 'quoted-printable', 'base64')
    const type = fc.constantFrom('text/plain; charset=utf-8', 'text/html; charset="utf-8"', 'image/png; name=a.png')
    const part = fc.record({ type, encoding, body }).map(({ type, encoding, body }) => {
      const bytes = Buffer.from(body)
      const quoted = bytes.toString('latin1').replace(/[^\r\n!-<>-~]/g, (sign) => `=${hex(sign)}`)
      const written = encoding === 'base64' ? bytes.toString('base64') : encoding === '8bit' ? body : quoted
      return `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${written}`
    })
    const whole = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => {
      if (parts.length === 1) return Buffer.from(`Subject: x\r\n${parts[0]}`)
      return mail(
        'Content-Type: multipart/mixed; boundary=bound',
        '',
        ...parts.map((each) => `--bound\r\n${each}`),
        '--bound--',
      )
    })
    const options = { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true, skipImageLinks: true }
    const property = fc.asyncProperty(whole, async (raw) => {
      const { text, html, attachments } = await simpleParser(raw, options)
      const theirs = attachments.map(({ filename, contentType, content }) => [
        filename,
        contentType,
        content.toString('latin1'),
      ])
      const [ownText, ownHtml, ...own] = await read(raw)
      // mailparser joins parts that it did not convert with an empty piece.
      expect(own).toEqual(theirs)
      expect(pieces(ownText)).toEqual(pieces(text))
      expect(pieces(ownHtml)).toEqual(pieces(html))
    })
    await fc.assert(property, { numRuns: 300, seed: 25 })
  })
})

const hex = (sign: string) => sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')
const pieces = (text: unknown) =>
  (typeof text === 'string' ? text : '')
    .replaceAll('<br/>', '')
    .split('\n')
    .filter((line) => line !== '')

describe('hostile mail', () => {
  test('keeps a Content-ID that cid: can name, with or without angle brackets, and no other', async () => {
    const ids = ['<a@b>', 'bare@id', '<two> <ids>', '<>', `<${'x'.repeat(256)}>`, '<a b>', '<caf\u00e9>']
    const parts = ids.map((id) => `--b\r\nContent-Type: image/png\r\nContent-ID: ${id}\r\n\r\nx\r\n`).join('')
    const { parsed: shown } = await parsed(mail('Content-Type: multipart/related; boundary=b', '', `${parts}--b--`))
    const kept = ['a@b', 'bare@id', null, null, null, null, null]
    expect(shown.attachments.map(({ contentId }) => contentId)).toEqual(kept)
  })

  test('reads 1,100 attachments with their contents in order', async () => {
    const parts = Array.from({ length: 1100 }, (_, at) => `--b\r\nContent-Type: image/png\r\n\r\n${at}\r\n`).join('')
    const raw = mail('Content-Type: multipart/mixed; boundary=b', '', `${parts}--b--`)
    const { parsed: shown, parseError } = await parsed(raw)
    expect(parseError).toBeNull()
    expect(shown.attachments[1099]).toEqual({
      filename: 'attachment-1100.png',
      contentType: 'image/png',
      sizeBytes: 4,
      contentId: null,
    })
    const contents = await parseAttachments(raw, never)
    expect(contents.map(String)).toEqual(Array.from({ length: 1100 }, (_, at) => String(at)))
  })

  // threat: parser-exhaustion
  test('with 2,100 parts has the readable ones, with the reason', async () => {
    const parts = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(2100)
    const { parsed: shown, parseError } = await parsed(
      mail('Subject: many', 'Content-Type: multipart/mixed; boundary=b', '', `${parts}--b--`),
    )
    expect(parseError).toBe('more than 2,000 parts')
    expect(shown.headers.subject).toBe('many')
    expect(shown.textBody).toStartWith('x')
  })

  test('may have a header over 1 MiB in front of the body, and reports one in a part', async () => {
    const long = `X-Long: ${'a'.repeat(2_000_000)}`
    const front = await parsed(mail('Content-Type: text/plain', long, '', 'Hello'))
    expect([front.parseError, front.parsed.textBody]).toEqual([null, 'Hello\n'])
    const inside = await parsed(
      mail(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain',
        long,
        '',
        'Hello',
        '--b--',
      ),
    )
    expect(inside.parseError).toBe('the header of a part is longer than 1 MiB')
    expect(inside.parsed.textBody).toContain('Hello')
  })

  // threat: parser-exhaustion
  test('of 60 levels of multiparts the fifty-first is an attachment, with the reason', async () => {
    const level = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`
    const raw = Buffer.from(`${Array.from({ length: 60 }, (_, at) => level(at)).join('')}\r\nHello`)
    const { parsed: shown, parseError } = await parsed(raw)
    expect(parseError).toBe('more than 50 levels of parts')
    const [content] = await parseAttachments(raw, never)
    expect(shown.attachments.map(({ contentType }) => contentType)).toEqual(['multipart/mixed'])
    expect(content!.toString()).toEndWith('--b59\r\n\r\nHello')
  })

  // threat: parser-exhaustion
  test('20,000 encoded words are decoded, the ones behind them stay as they are, with the reason', async () => {
    const name = '=?cp437?q?=81?=x'.repeat(500)
    const part = `--b\r\nContent-Type: a/b; name="${name}"\r\n\r\nx\r\n`
    const raw = mail('Content-Type: multipart/mixed; boundary=b', '', `${part.repeat(1_900)}--b--`)
    let read: ReturnType<typeof parsed> | undefined
    await expectCostUnder(2_500, () => (read = parsed(raw)), 1) // 8 s with a decoder for each word
    const { parsed: shown, parseError } = await read!
    expect(parseError).toBe('more than 20,000 encoded words')
    expect(shown.attachments[39]!.filename).toStartWith('üxüx')
    expect(shown.attachments[41]!.filename).toStartWith('=?cp437?q?=81?=x')
  })

  // threat: parser-exhaustion
  test('parses long fields of parts once', async () => {
    const part = `--b\r\nContent-Type: text/plain; ${'a=b;'.repeat(2_500)}\r\n\r\nx\r\n`
    const raw = mail('Content-Type: multipart/mixed; boundary=b', '', `${part.repeat(1_900)}--b--`)
    await expectCostUnder(2_000, async () => {
      expect((await parsed(raw)).parsed.textBody).toHaveLength(1_900 * 2 - 1)
    })
  })

  // threat: parser-exhaustion
  test('returns no views of a mail with a thousand attachments', async () => {
    const part = '--b\r\nContent-Type: image/png\r\n\r\nx\r\n'
    const raw = mail('Content-Type: multipart/mixed; boundary=b', '', `${part.repeat(1_000)}--b--`)
    const contents = await parseAttachments(raw, never)
    expect(contents.every(({ buffer, length }) => buffer.byteLength === length)).toBe(true)
  })

  // threat: parser-exhaustion
  test('deeply nested html is html', async () => {
    const html = '<table><tr><td>'.repeat(20_000)
    const { parsed: shown, parseError } = await parsed(mail('Content-Type: text/html', '', html))
    expect([parseError, shown.htmlBody.trim().length]).toEqual([null, html.length])
  })

  // threat: parser-exhaustion
  test('utf-7 and similar charsets are decoded in a small mail and kept in a large one', async () => {
    const small = await parsed(mail('Content-Type: text/plain; charset=utf-7', '', '+AOQ-'))
    expect(small.parsed.textBody).toBe('ä\n')
    for (const charset of [
      'utf-7',
      'UTF7',
      'unicode-1-1-utf-7',
      'iso-2022-jp',
      'iso2022jp',
      'jis',
      `"'jis'"`,
      `" 'hz-gb-2312'"`,
    ]) {
      const large = await parsed(mail(`Content-Type: text/plain; charset=${charset}`, '', '+AOQ- '.repeat(200_000)))
      expect(large.parsed.textBody).toStartWith('+AOQ- +AOQ- ')
    }
    for (const charset of ['iso-2022-jp', 'cp50220', 'cp50221']) {
      const text = '\x1b$B%F\x1b(B '
      const head = `Content-Type: text/plain; charset=${charset}`
      expect((await parsed(mail(head, '', text))).parsed.textBody).toBe('テ \n')
      expect((await parsed(mail(head, '', text.repeat(120_000)))).parsed.textBody).toStartWith(text)
    }
  })

  // threat: parser-exhaustion
  test('returns what was read when reading takes too long', async () => {
    const { parsed: shown, parseError } = await parseMail(MIXED, Promise.resolve())
    expect(parseError).toBe('parsing took too long')
    expect(shown.headers.subject).toBe('Grüße again')
    expect(shown.textBody).toContain('Grüße')
  })

  // threat: parser-exhaustion
  test.each<[string, () => Buffer]>([
    [
      'lines that look like a delimiter at each of 50 levels',
      () => {
        const boundaries = Array.from({ length: 50 }, (_, at) => 'a'.repeat(at + 1))
        const level = (name: string) => `Content-Type: multipart/mixed; boundary=${name}\r\n\r\n--${name}\r\n`
        return mail(boundaries.map(level).join(''), `--${'a'.repeat(51)}\r\n`.repeat(400_000))
      },
    ],
    ['parts with many fields', () => mixed(`--b\r\n${'a:b\r\n'.repeat(2_400)}\r\nx\r\n`.repeat(1_900))],
    ['parts whose header is garbage', () => mixed(`--b\r\n${'x\r\n'.repeat(4_000)}\r\n`.repeat(1_900))],
  ])('%s yield the thread and stop at the deadline', async (_, build) => {
    const raw = build()
    // CPU time, because other programs take turns on a busy machine.
    const usedMs = () => Object.values(process.cpuUsage()).reduce((sum, each) => sum + each, 0) / 1000
    let longestMs = 0
    let last = usedMs()
    const ticker = setInterval(() => {
      longestMs = Math.max(longestMs, usedMs() - last)
      last = usedMs()
    })
    const { parseError } = await parseMail(raw, Bun.sleep(50))
    clearInterval(ticker)
    expect(parseError).toBe('parsing took too long')
    // 50 ms here; without pauses 600 to 3,500
    if (longestMs >= 700) expect(longestMs).toBeLessThan(700 * (await slowness()))
  })

  test('keeps a header named __proto__', async () => {
    const { headers } = (await parsed(mail('__proto__: x', 'constructor: y', '', ''))).parsed
    expect(Object.entries(headers)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })
})

test.each([
  ['a.pdf', 'application/pdf', 'a.pdf'],
  ['../../etc/passwd', 'text/plain', '.._.._etc_passwd'],
  ['C:\\x\\a.exe', 'text/plain', 'C:_x_a.exe'],
  ['a\r\nb\0.txt', 'text/plain', 'ab.txt'],
  ['\u202egpj.exe', 'text/plain', 'gpj.exe'],
  ['..', 'image/jpeg', 'attachment-7.jpeg'],
  ['  ', 'text/plain', 'attachment-7.txt'],
  [undefined, 'application/x-strange', 'attachment-7.bin'],
  [false, 'message/rfc822', 'attachment-7.eml'],
  [`${'ü'.repeat(500)}.docx`, 'application/pdf', `${'ü'.repeat(195)}.docx`],
])('an attachment called %j of %s is saved as %s', (said, contentType, name) => {
  expect(fileName(said, contentType, 7)).toBe(name)
})
