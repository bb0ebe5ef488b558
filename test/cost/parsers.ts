/** Every function that reads text of strangers or tenants, for the limits on their cost. */

import { serverSent } from '../../src/client/server-sent.ts'
import { linesOfKeys } from '../../src/config/lines.ts'
import { parseMailbox, toALabel } from '../../src/mail/address.ts'
import { addressesOf } from '../../src/mail/address-list.ts'
import { ownResultRanges } from '../../src/mail/authentication-results.ts'
import { classifyReply } from '../../src/mail/bounce-class.ts'
import { compose } from '../../src/mail/compose.ts'
import { readDeliveryStatus } from '../../src/mail/delivery-status.ts'
import { readDsn } from '../../src/mail/dsn.ts'
import { decodeWords } from '../../src/mail/encoded-words.ts'
import { withoutFields } from '../../src/mail/field-ranges.ts'
import { fileName } from '../../src/mail/file-name.ts'
import { readHeaderFields } from '../../src/mail/header-fields.ts'
import { addressField, customField, encodedWords, parameter, textField } from '../../src/mail/header-text.ts'
import { decodeAttribute, decodeEntities } from '../../src/mail/html-entities.ts'
import { textFromHtml } from '../../src/mail/html-text.ts'
import { mailboxesOf, onlyMailbox } from '../../src/mail/mailboxes.ts'
import { packMime } from '../../src/mail/mime-content.ts'
import { leavesOf, readParts, readTexts } from '../../src/mail/mime-parts.ts'
import { readMtaSts, readMtaStsId } from '../../src/mail/mta-sts.ts'
import { parameterOf } from '../../src/mail/parameters.ts'
import { parseMail } from '../../src/mail/parse.ts'
import { readPolicyReport } from '../../src/mail/policy-report.ts'
import { createReplyReader, parseReplyLine } from '../../src/mail/reply.ts'
import { shownContent } from '../../src/mail/shown-content.ts'
import { isSpf, mergedSpf } from '../../src/mail/spf-record.ts'
import { readTlsRpt } from '../../src/mail/tls-report.ts'
import { trackHtml } from '../../src/mail/track.ts'
import { createTrackingLinks } from '../../src/mail/tracking-link.ts'
import { encodeText } from '../../src/mail/transfer-encoding.ts'
import type { Resolver } from '../../src/net/dns/resolver.ts'
import { canonicalIp, parseHostPort } from '../../src/net/ip.ts'
import { parsePostTarget } from '../../src/net/webhook-url.ts'
import { systemClock } from '../../src/os/clock.ts'
import { judgeDsn } from '../../src/receiving/feedback/bounce.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import { authenticate } from '../../src/receiving/inbound/authenticate.ts'
import { bounded } from '../../src/receiving/inbound/bounded-head.ts'
import { headOf } from '../../src/receiving/inbound/head.ts'
import { parseSpokenPath } from '../../src/receiving/smtp-server/envelope-address.ts'
import { createScan } from '../../src/receiving/smtp-server/scan.ts'
import { readAuthorMail } from '../../src/receiving/smtp-submission/author-mail.ts'
import { analyze } from '../../src/sending/analysis/analyze.ts'
import { scanCss } from '../../src/sending/analysis/css-scan.ts'
import { readPage } from '../../src/sending/analysis/page.ts'
import { readExtensions } from '../../src/sending/outbound/smtp/extensions.ts'
import { bodyFault, contentTypeFault, headerValueFault, subjectFault } from '../../src/sending/submission/checks.ts'
import { fillTemplate, parseTemplateTexts, variablesIn } from '../../src/sending/submission/render.ts'
import { createCsvReader } from '../../src/sending/suppressions/csv.ts'
import { createJsonListReader } from '../../src/sending/suppressions/json-list.ts'
import { createListReader } from '../../src/sending/suppressions/read-list.ts'
import { shapeFault } from '../../src/web/api/json-shape.ts'
import { silentResolver } from '../support/silent-resolver.ts'
import { ANALYSED } from './analysed.ts'

export interface Parser {
  name: string
  /** The longest text it ever gets, in characters; it or its caller truncates longer text. */
  most: number
  read: (text: string) => unknown
}

const MAIL = 25_000_000
const HEADER = 262_144 // SCAN_LIMITS.headerBytes
const LINE = 65_536 // SCAN_LIMITS.headerLineBytes, and the text of a notice
const BODY = 1_048_576
const HTML = 2_097_152

const NEVER = new Promise<never>(() => {})
const CONTENT = {
  from: { name: null, local: 'a', domain: 'a.example', address: 'a@a.example' },
  to: [],
  cc: [],
  replyTo: [],
  subject: 'a',
  dateAt: 0,
  messageId: '<a@a.example>',
  html: null,
  text: null,
  headers: [],
  attachments: [],
  boundarySeed: 'a',
}
const TRACKING = {
  deliveryId: `dlv_${'0'.repeat(26)}`,
  scope: { organizationId: 'org_a', host: 't.a.example' },
  secret: new Uint8Array(32),
  baseUrl: 'https://t.a.example',
  opens: true,
  clicks: true,
  unsubscribe: true,
}
const LINKS = createTrackingLinks(TRACKING.secret, TRACKING.scope)
const bytes = (text: string) => Buffer.from(text)
const inMail = (head: string, body: string) => bytes(`From: a@b.example\r\nTo: c@d.example\r\n${head}\r\n\r\n${body}`)
const unfolded = (text: string) => text.replace(/[\r\n]/g, ' ')
const multipart = (type: string, text: string) =>
  inMail(`Content-Type: ${type}; boundary=b`, `--b\r\n${text}\r\n--b--\r\n`)
const report = (text: string) =>
  inMail(
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    `--b\r\n\r\nhello\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; a.example\r\n\r\n${text}\r\n--b--\r\n`,
  )
const bounceMail = (text: string) =>
  bytes(`From: MAILER-DAEMON@a.example\r\nReturn-Path: <>\r\nSubject: Undelivered\r\n\r\n${text}`)
const BOUNCES: [string, string][] = [
  [
    'exim',
    'A message that you sent could not be delivered to one or more of its recipients. This is a permanent error. The following address(es) failed:\n',
  ],
  ['qmail', 'Hi. This is the qmail-send program at a.example.\n'],
  ['postfix', 'This is the mail system at host a.example.\n'],
  ['sendmail', '   ----- The following addresses had permanent fatal errors -----\n'],
  ['gmail', '** Address not found **\n'],
  ['amazon-ses', 'An error occurred while trying to deliver the mail to the following recipients:\n'],
  ['exchange', 'Delivery has failed to these recipients or groups:\n'],
  ['courier', 'Your message to the following recipients cannot be delivered:\n'],
  ['others', 'undeliverable\n'],
]
const WORLD = { resolver: silentResolver, clock: systemClock, hostname: 'mx.a.example', limitMs: 10_000 }
const claim = (raw: Buffer) => ({
  raw,
  remoteAddress: '192.0.2.1',
  helo: 'b.example',
  returnPath: 'a@b.example',
  from: 'a@b.example',
})

export const PARSERS: readonly Parser[] = [
  // Inbound mail.
  { name: 'header fields', most: HEADER, read: (text) => readHeaderFields(bytes(text)) },
  {
    name: 'head of a mail',
    most: HEADER,
    read: (text) => headOf(readHeaderFields(inMail(`To: ${unfolded(text)}\r\nSubject: ${unfolded(text)}`, '')).fields),
  },
  { name: 'unwanted fields', most: HEADER, read: (text) => withoutFields(bytes(text), ({ key }) => key === 'a') },
  { name: 'scan of a mail', most: MAIL, read: (text) => createScan().feed(bytes(text)) },
  { name: 'parts of a mail', most: BODY, read: (text) => leavesOf(readParts(multipart('multipart/mixed', text))) },
  {
    name: 'parts in parts',
    most: BODY,
    read: (text) =>
      leavesOf(readParts(bytes('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(25) + text))),
  },
  { name: 'texts of a mail', most: MAIL, read: (text) => readTexts(multipart('multipart/alternative', text)) },
  {
    name: 'quoted-printable text',
    most: MAIL,
    read: (text) => readTexts(inMail('Content-Transfer-Encoding: quoted-printable', text)),
  },
  { name: 'base64 text', most: MAIL, read: (text) => readTexts(inMail('Content-Transfer-Encoding: base64', text)) },
  { name: 'mail for the payload', most: MAIL, read: (text) => parseMail(multipart('multipart/mixed', text), NEVER) },
  {
    name: 'flowed text',
    most: MAIL,
    read: (text) => parseMail(inMail('Content-Type: text/plain; format=flowed', text), NEVER),
  },
  {
    name: 'quoted text',
    most: MAIL,
    read: (text) =>
      parseMail(
        inMail('Content-Type: text/plain; charset=iso-8859-15\r\nContent-Transfer-Encoding: quoted-printable', text),
        NEVER,
      ),
  },
  {
    name: 'types of parts',
    most: LINE,
    read: (text) => parseMail(inMail(`Content-Type: multipart/mixed; ${unfolded(text)}`, 'a'), NEVER),
  },
  {
    name: 'parts in parts for the payload',
    most: MAIL,
    read: (text) =>
      parseMail(bytes('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(25) + text), NEVER),
  },
  {
    name: 'headers of parts',
    most: MAIL,
    read: (text) => parseMail(multipart('multipart/mixed', `Content-Type: a/b; name=${text}\r\n\r\na`), NEVER),
  },
  ...['uuencode', 'base64', 'quoted-printable'].map(
    (encoding): Parser => ({
      name: `attachment in ${encoding}`,
      most: MAIL,
      read: (text) =>
        parseMail(inMail(`Content-Type: a/b\r\nContent-Transfer-Encoding: ${encoding}`, `begin 644 a\n${text}`), NEVER),
    }),
  ),
  {
    name: 'multipart in base64',
    most: MAIL,
    read: (text) =>
      parseMail(
        inMail('Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: base64', btoaOf(text)),
        NEVER,
      ),
  },
  ...['utf-7', 'iso-2022-jp', 'iso-2022-kr', 'hz-gb-2312', 'cp850', 'utf-16', 'gb18030'].map(
    (charset): Parser => ({
      name: `text in ${charset}`,
      most: MAIL,
      read: (text) => parseMail(inMail(`Content-Type: text/plain; charset=${charset}`, text), NEVER),
    }),
  ),
  { name: 'limits for mailauth', most: HEADER, read: (text) => bounded(bytes(`${text}\r\n\r\na`)) },
  { name: 'authentication of a header', most: HEADER, read: (text) => authenticate(claim(inMail(text, 'a')), WORLD) },
  { name: 'authentication of a body', most: MAIL, read: (text) => authenticate(claim(inMail(SIGNATURE, text)), WORLD) },
  {
    name: 'signatures',
    most: LINE,
    read: (text) =>
      authenticate(
        claim(
          inMail(
            `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=b.example; s=s; bh=a=; b=a; h=${unfolded(text)}`,
            'a',
          ),
        ),
        WORLD,
      ),
  },
  {
    name: 'signatures of any form',
    most: LINE,
    read: (text) =>
      authenticate(claim(inMail(`DKIM-Signature: ${unfolded(text)}\r\nARC-Seal: ${unfolded(text)}`, 'a')), WORLD),
  },
  {
    name: 'author for mailauth',
    most: LINE,
    read: (text) => authenticate(claim(inMail(`From: ${unfolded(text)}`, 'a')), WORLD),
  },
  {
    name: 'own results',
    most: HEADER,
    read: (text) => ownResultRanges(inMail(`Authentication-Results: ${unfolded(text)}`, ''), 'mx.a.example'),
  },
  // Reports.
  {
    name: 'DMARC and TLS reports',
    most: 10_000_000,
    read: (text) => [
      readPolicyReport(bytes(`\r\n<?xml version="1.0"?><feedback>${text}`)),
      readPolicyReport(bytes(`\r\n<feedback><record><row ${text}><source_ip>${text}</source_ip></row></record>`)),
      readPolicyReport(bytes(`\r\n{"policies":[{"policy":{"policy-domain":"${text}`)),
      readPolicyReport(Buffer.concat([bytes('\r\nPK\x03\x04'), bytes(text), bytes('PK\x05\x06')])),
    ],
  },
  { name: 'reports of any form', most: BODY, read: (text) => readReport(multipart('multipart/report', text), '') },
  { name: 'delivery status', most: BODY, read: (text) => judged(report(text)) },
  { name: 'delivery status alone', most: BODY, read: (text) => readDeliveryStatus([], bytes(text)) },
  {
    name: 'feedback report',
    most: BODY,
    read: (text) =>
      readReport(
        inMail(
          'Content-Type: multipart/report; boundary=b',
          `--b\r\nContent-Type: message/feedback-report\r\n\r\n${text}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${text}\r\n--b--`,
        ),
        '',
      ),
  },
  {
    name: 'fields of a report',
    most: LINE,
    read: (text) =>
      readReport(
        report(
          `Final-Recipient: ${unfolded(text)}\r\nRemote-MTA: ${unfolded(text)}\r\nAction: failed\r\nDiagnostic-Code: ${unfolded(text)}`,
        ),
        '',
      ),
  },
  ...BOUNCES.map(
    ([name, opening]): Parser => ({
      name: `bounce of ${name}`,
      most: LINE,
      read: (text) => readDsn(bounceMail(opening + text)),
    }),
  ),
  {
    name: 'notice in no known form',
    most: LINE,
    read: (text) => readReport(bounceMail(`Your mail could not be delivered.\r\n${text}`), ''),
  },
  {
    name: 'notification of Amazon SNS',
    most: LINE,
    read: (text) => readReport(bounceMail(`{"notificationType":"Bounce","bounce":{"bouncedRecipients":[${text}`), ''),
  },
  {
    name: 'bounce in HTML',
    most: LINE,
    read: (text) =>
      readDsn(
        bytes(
          `From: postmaster@a.example\r\nReturn-Path: <>\r\nContent-Type: text/html\r\n\r\nThis is the mail system at host a.example.<br>${text}`,
        ),
      ),
  },
  { name: 'reply of a server', most: 100_000, read: (text) => classifyReply({ code: 550, enhanced: null, text }) },
  { name: 'reply line', most: LINE, read: (text) => parseReplyLine(`550 ${unfolded(text)}`) },
  { name: 'replies as they come', most: 100_000, read: (text) => createReplyReader().push(text) },
  // Parts of headers.
  { name: 'address list', most: HEADER, read: addressesOf },
  { name: 'mailboxes', most: HEADER, read: mailboxesOf },
  { name: 'one mailbox', most: HEADER, read: onlyMailbox },
  { name: 'mailbox of the API', most: 100_000, read: parseMailbox },
  { name: 'domain', most: 100_000, read: toALabel },
  { name: 'encoded words', most: HEADER, read: decodeWords },
  { name: 'parameters', most: HEADER, read: (text) => parameterOf(`a; ${text}`, 'name') },
  { name: 'file name', most: HEADER, read: (text) => fileName(text, 'text/plain', 1) },
  { name: 'content read back', most: BODY, read: (text) => shownContent(packMime(multipart('multipart/mixed', text))) },
  {
    name: 'names of attachments read back',
    most: LINE,
    read: (text) =>
      shownContent(
        packMime(
          multipart(
            'multipart/mixed',
            `Content-Type: image/png; name=${unfolded(text)}\r\nContent-ID: ${unfolded(text)}\r\nContent-Disposition: attachment; filename=${unfolded(text)}\r\n\r\na`,
          ),
        ),
      ),
  },
  // HTML, CSS, templates, analysis.
  { name: 'text from HTML', most: HTML, read: textFromHtml },
  { name: 'text from a tag', most: HTML, read: (text) => textFromHtml(`<a ${text}>b</a><img ${text}>`) },
  { name: 'entities', most: HTML, read: (text) => decodeEntities(text) + decodeAttribute(text) },
  { name: 'tracked HTML', most: HTML, read: (text) => trackHtml(text, TRACKING, LINKS) },
  { name: 'tracked link', most: HTML, read: (text) => trackHtml(`<a href="${text}">b</a>`, TRACKING, LINKS) },
  { name: 'page of a mail', most: HTML, read: readPage },
  { name: 'style sheet', most: HTML, read: (text) => scanCss(text, { declaration() {}, selector() {}, atRule() {} }) },
  { name: 'analysis of HTML', most: HTML, read: (html) => analyze({ ...ANALYSED, html }) },
  {
    name: 'analysis of a style sheet',
    most: HTML,
    read: (text) => analyze({ ...ANALYSED, html: `<style>${text}</style>` }),
  },
  {
    name: 'analysis of a style',
    most: HTML,
    read: (text) => analyze({ ...ANALYSED, html: `<p style="${text}">a</p>` }),
  },
  { name: 'analysis of a text', most: HTML, read: (text) => analyze({ ...ANALYSED, text, html: '<p>a</p>' }) },
  {
    name: 'analysis of a link',
    most: HTML,
    read: (text) => analyze({ ...ANALYSED, html: `<a href="${text}">${text}</a>` }),
  },
  {
    name: 'analysis of an image',
    most: HTML,
    read: (text) => analyze({ ...ANALYSED, html: `<img src="${text}" alt="${text}">` }),
  },
  {
    name: 'analysis of the small fields',
    most: 998,
    read: (text) =>
      analyze({
        ...ANALYSED,
        subject: text,
        from: { ...ANALYSED.from, name: text },
        headers: [
          ['X-Priority', text],
          ['List-Id', text],
        ],
      }),
  },
  {
    name: 'template',
    most: 262_144,
    read: (text) => variablesIn(parseTemplateTexts({ subject: null, html: text, text: null })),
  },
  {
    name: 'filled template',
    most: 262_144,
    read: (text) =>
      fillTemplate(parseTemplateTexts({ subject: null, html: text, text: null }), { a: 'x', b: [1, 2, 3] }),
  },
  {
    name: 'expression of a template',
    most: 262_144,
    read: (text) =>
      fillTemplate(parseTemplateTexts({ subject: null, html: `{{ a ${text} }}`, text: null }), { a: text }),
  },
  // Input of the API and of SMTP.
  { name: 'author mail', most: MAIL, read: (text) => readAuthorMail(inMail(text, 'a')) },
  {
    name: 'path of MAIL and RCPT',
    most: 4_096,
    read: (text) => parseSpokenPath(`<${text}> ${text}`, () => true, { who: 'recipient', localDomain: 'a.example' }),
  },
  {
    name: 'fields of a message',
    most: BODY,
    read: (text) => [subjectFault(text), bodyFault(text), headerValueFault(text), contentTypeFault(text)],
  },
  {
    name: 'headers of a message',
    most: 998,
    read: (text) => [
      textField('Subject', unfolded(text)),
      customField('X-A', unfolded(text)),
      addressField('From', [{ ...CONTENT.from, name: unfolded(text) }]),
      encodedWords(text, 60),
      parameter('filename', text),
    ],
  },
  { name: 'composed mail', most: MAIL, read: (text) => compose({ ...CONTENT, text, html: text }) },
  { name: 'encoded text', most: MAIL, read: encodeText },
  {
    name: 'shape of JSON',
    most: MAIL,
    read: (text) => shapeFault(bytes(text), { levels: 32, values: 100_000, keys: 10_000 }),
  },
  { name: 'list of suppressions as CSV', most: MAIL, read: (text) => read(createCsvReader(), text) },
  { name: 'list of suppressions as JSON', most: MAIL, read: (text) => read(createJsonListReader(), text) },
  {
    name: 'list of suppressions',
    most: MAIL,
    read: (text) => read(createListReader({ provider: null, kind: null, stream: null }), `email\n${text}`),
  },
  { name: 'lines of a configuration', most: BODY, read: linesOfKeys },
  // Answers of DNS, peers and policy hosts.
  {
    name: 'SPF record',
    most: LINE,
    read: (text) => authenticate(claim(inMail('', 'a')), { ...WORLD, resolver: answering(`v=spf1 ${text}`) }),
  },
  {
    name: 'key of a signature',
    most: LINE,
    read: (text) => authenticate(claim(inMail(SIGNATURE, 'a')), { ...WORLD, resolver: answering(`v=DKIM1; ${text}`) }),
  },
  {
    name: 'DMARC record',
    most: LINE,
    read: (text) =>
      authenticate(claim(inMail('', 'a')), { ...WORLD, resolver: answering(`v=DMARC1; p=none; ${text}`) }),
  },
  { name: 'extensions of a server', most: LINE, read: readExtensions },
  {
    name: 'MTA-STS policy',
    most: LINE,
    read: (text) => readMtaSts(`version: STSv1\nmode: enforce\nmax_age: 1\n${text}`),
  },
  {
    name: 'records of DNS',
    most: LINE,
    read: (text) => [
      readMtaStsId([`v=STSv1;${text}`]),
      readTlsRpt([`v=TLSRPTv1;rua=${text}`]),
      isSpf(text),
      mergedSpf([`v=spf1 ${text}`]),
    ],
  },
  {
    name: 'addresses and targets',
    most: LINE,
    read: (text) => [canonicalIp(text), parseHostPort(text), parsePostTarget(`https://${text}`)],
  },
  {
    name: 'event stream',
    most: 1_000_000,
    read: (text) => Array.fromAsync(serverSent(new Blob([text]).stream(), () => {})),
  },
]

/** A resolver with one text for every name. */
function answering(text: string): Resolver {
  const records = [text]
  const lookup = async () => ({ kind: 'records' as const, records, ttlSeconds: 60, authentic: false })
  return {
    ...silentResolver,
    txt: lookup,
    txtStrings: async () => ({ ...(await lookup()), records: [records] }),
  } as never
}

const SIGNATURE = 'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=b.example; s=s; bh=a=; b=a; h=from'

const btoaOf = (text: string) => bytes(`--b\r\n\r\n${text}`).toString('base64')

/** In pieces, as a body arrives. */
function read<T>(reader: { push: (text: string) => T[]; end: () => T[] }, text: string): T[] {
  const found: T[] = []
  for (let at = 0; at < text.length; at += PIECE) found.push(...reader.push(text.slice(at, at + PIECE)))
  return [...found, ...reader.end()]
}

const PIECE = 16_384

function judged(raw: Buffer): unknown {
  const dsn = readDsn(raw)
  return dsn && judgeDsn(dsn, DELIVERY, 0, (reply) => ({ ...classifyReply(reply) }) as never)
}

const DELIVERY = { email: 'a@b.example', status: 'delivered', attempts: 1 } as never
