/** Every parser of outside text, on a hundred kilobytes of the same few letters with a prefix and a suffix. A linear
 *  parser takes a millisecond; one that restarts at each letter takes a minute. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkDomainName } from '../../src/domains/name.ts'
import { parseMailbox, toALabel } from '../../src/mail/address.ts'
import { classifyReply } from '../../src/mail/bounce-class.ts'
import { addressesOf, decodeWords, parameterOf, readHeaderFields } from '../../src/mail/header-fields.ts'
import { textFromHtml } from '../../src/mail/html-text.ts'
import { mailboxesOf, onlyMailbox } from '../../src/mail/mailboxes.ts'
import { readMtaSts, readMtaStsId } from '../../src/mail/mta-sts.ts'
import { parseReplyLine } from '../../src/mail/reply.ts'
import { isSpf } from '../../src/mail/spf-record.ts'
import { readTlsRpt } from '../../src/mail/tls-report.ts'
import { excerptOf, retryAfterSeconds } from '../../src/net/https/answer-excerpt.ts'
import { parsePostTarget } from '../../src/net/webhook-url.ts'
import { parseSpokenPath } from '../../src/receiving/smtp-server/envelope-address.ts'
import { readAuthorMail } from '../../src/receiving/smtp-submission/author-mail.ts'
import { colourOf } from '../../src/sending/analysis/colour.ts'
import { examineLinks } from '../../src/sending/analysis/links.ts'
import { createFilling, parseText } from '../../src/sending/submission/template-engine.ts'
import { parseIsoTime } from '../../src/web/api/schema.ts'
import { preferredWaitMs } from '../../src/web/api/waiting.ts'
import { machineOf } from '../../src/web/tracking/machines.ts'
import { runs } from './runs.ts'

const LENGTH = 100_000
const MOST_MS = 2_000

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const READERS: Record<string, (text: string) => unknown> = {
  parseMailbox,
  toALabel,
  onlyMailbox,
  mailboxesOf,
  addressesOf,
  decodeWords,
  parameterOf: (text) => parameterOf(`a/b; ${text}`, 'a'),
  headerFields: (text) => readHeaderFields(bytes(text)),
  authorMail: (text) => readAuthorMail(bytes(`From: a@b.example\r\nX-Service-Tags: ${text}\r\nTo: ${text}\r\n\r\n`)),
  spokenPath: (text) => parseSpokenPath(`<${text}>`, () => true, { who: 'sender' }),
  reply: (text) => {
    const reply = parseReplyLine(`550 5.1.1 ${text}`)
    return reply && classifyReply(reply)
  },
  mtaSts: (text) => readMtaSts(`version: STSv1\nmx: ${text}\n`),
  mtaStsId: (text) => readMtaStsId([`v=STSv1; id=${text}`]),
  tlsRpt: (text) => readTlsRpt([`v=TLSRPTv1; rua=${text}`]),
  spf: isSpf,
  domainName: checkDomainName,
  isoTime: parseIsoTime,
  prefer: (text) => preferredWaitMs(new Headers({ prefer: text.replace(/[^ -~]/g, '?') })),
  url: parsePostTarget,
  excerpt: (text) => excerptOf(bytes(text)),
  retryAfter: (text) => retryAfterSeconds(text, 0),
  html: textFromHtml,
  colour: colourOf,
  links: (text) => examineLinks(null, `https://a.example/${text}`),
  userAgent: (text) => machineOf(new Headers({ 'user-agent': text.replace(/[^ -~]/g, '?') })),
  template: (text) =>
    createFilling({ text })(parseText('{{ text | strip_html | url_encode | truncatewords: 3 }}', 'html')),
  templateSource: (text) => parseText(`{{ ${text}`, 'plain'),
}

const ends = fc.constantFrom(
  '',
  'a',
  'b@c.example',
  ' ',
  '<',
  '>',
  '"',
  'a <',
  '> b',
  '=?utf-8?q?',
  '?=',
  '\\',
  ',',
  ';',
  '(',
  'https://',
  '.',
  '/',
)
const filler = fc.oneof(
  fc.constantFrom(
    ' ',
    '\t',
    'a',
    '.',
    '@',
    '<',
    '>',
    '"',
    '\\',
    '(',
    ')',
    ',',
    ';',
    ':',
    '=',
    '-',
    '0',
    '%',
    '&',
    '/',
    '\r\n',
    '\n ',
    '_',
    'ü',
    '\u00a0',
  ),
  fc.constantFrom(
    'a ',
    ' ,',
    '<>',
    '""',
    '"\\',
    'a@',
    'a.',
    '@.',
    '=?',
    '?=',
    '=a',
    '()',
    '((',
    'a@b.example,',
    '<a@b.example> ',
    '%20',
    '&#',
    '<a',
    '</',
    '--',
    '{{',
    '}}',
    '{%',
    ' \t',
    '" "',
    "''",
    '=?utf-8?q?a?= ',
  ),
)

test('every parser is fast, whatever is repeated in its text', () => {
  const name = fc.constantFrom(...Object.keys(READERS))
  const run = fc.property(name, ends, filler, ends, (reader, before, repeated, behind) => {
    const text = before + repeated.repeat(LENGTH / repeated.length) + behind
    const startedAt = process.cpuUsage()
    try {
      READERS[reader]!(text)
    } catch (error) {
      expect(error).toBeInstanceOf(Error) // other tests check how each rejects
    }
    expect([reader, process.cpuUsage(startedAt).user / 1000 < MOST_MS]).toEqual([reader, true])
  })
  fc.assert(run, {
    ...runs<[string, string, string, string]>({ target: 'long-runs', property: 'soon' }, 600, 91),
    endOnFailure: true,
  })
})
