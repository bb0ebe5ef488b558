import { describe, expect, test } from 'bun:test'
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
      { filename: 'attachment-1.png', contentType: 'image/png', sizeBytes: 5 },
      { filename: '€ rates.pdf', contentType: 'application/pdf', sizeBytes: 5 },
      { filename: 'attachment-3.eml', contentType: 'message/rfc822', sizeBytes: 28 },
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
      { filename: 'attachment-1.txt', contentType: 'message/delivery-status', sizeBytes: 21 },
    ])
  })

  test.each(['', '\r\n', 'garbage', 'A', '\r\n\r\nbody', 'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x'])(
    'whatever comes is a mail: %j',
    async (raw) => {
      expect((await parsed(Buffer.from(raw))).parseError).toBeNull()
    },
  )
})

describe('hostile mails', () => {
  test('1,100 attachments are read, and their contents come in the same order', async () => {
    const parts = Array.from({ length: 1100 }, (_, at) => `--b\r\nContent-Type: image/png\r\n\r\n${at}\r\n`).join('')
    const raw = mail('Content-Type: multipart/mixed; boundary=b', '', `${parts}--b--`)
    const { parsed: shown, parseError } = await parsed(raw)
    expect(parseError).toBeNull()
    expect(shown.attachments[1099]).toEqual({ filename: 'attachment-1100.png', contentType: 'image/png', sizeBytes: 4 })
    const contents = await parseAttachments(raw, never)
    expect(contents.map(String)).toEqual(Array.from({ length: 1100 }, (_, at) => String(at)))
  })

  // threat: parser-exhaustion
  test('of 2,100 parts what can be read is told, with the reason', async () => {
    const parts = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(2100)
    const { parsed: shown, parseError } = await parsed(
      mail('Subject: many', 'Content-Type: multipart/mixed; boundary=b', '', `${parts}--b--`),
    )
    expect(parseError).toBe('Max allowed child nodes exceeded')
    expect(shown.headers.subject).toBe('many')
    expect(shown.textBody).toStartWith('x')
  })

  test('a header over 1 MiB in front of the body is no hindrance, one in a part is told', async () => {
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
    expect(inside.parseError).toBe('Max header size for a MIME node exceeded')
    expect(inside.parsed.textBody).toContain('Hello')
  })

  // threat: parser-exhaustion
  test('deeply nested html is html', async () => {
    const html = '<table><tr><td>'.repeat(20_000)
    const { parsed: shown, parseError } = await parsed(mail('Content-Type: text/html', '', html))
    expect([parseError, shown.htmlBody.trim().length]).toEqual([null, html.length])
  })

  // threat: parser-exhaustion
  test('utf-7 and its like are decoded in a small mail and left in a large one', async () => {
    const small = await parsed(mail('Content-Type: text/plain; charset=utf-7', '', '+AOQ-'))
    expect(small.parsed.textBody).toBe('ä\n')
    for (const charset of ['utf-7', 'UTF7', 'unicode-1-1-utf-7', 'iso-2022-jp', 'iso2022jp', 'jis']) {
      const large = await parsed(mail(`Content-Type: text/plain; charset=${charset}`, '', '+AOQ- '.repeat(200_000)))
      expect(large.parsed.textBody).toStartWith('+AOQ- +AOQ- ')
    }
  })

  // threat: parser-exhaustion
  test('a reading that takes too long ends with what was read until then', async () => {
    const { parsed: shown, parseError } = await parseMail(MIXED, Promise.resolve())
    expect(parseError).toBe('reading it took too long')
    expect(shown.headers.subject).toBe('Grüße again')
    expect(shown.textBody).toContain('Grüße')
  })

  test('a header called __proto__ is a header', async () => {
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
