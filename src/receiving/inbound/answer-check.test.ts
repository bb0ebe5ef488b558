import { describe, expect, test } from 'bun:test'
import { inboundMessage } from '../../../test/support/inbound.ts'
import { BLOB_VERSIONS, packBlob } from '../../mail/blob.ts'
import { BUG_CHARACTERS, isAnswerTo } from './answer-check.ts'
import type { ReaderAnswer, ReaderJob } from './inbound-result.ts'

const MEBIBYTE = 2 ** 20
const RAW = new Uint8Array(1_000)
const blob = (kind: keyof typeof BLOB_VERSIONS, bytes = 10) => packBlob(BLOB_VERSIONS[kind], new Uint8Array(bytes))

const MAIL_JOB: ReaderJob = {
  kind: 'mail',
  jobId: 1,
  raw: RAW,
  envelope: { remoteAddress: '192.0.2.1', helo: 'a', returnPath: '', recipients: ['b'], protocol: 'ESMTP', tls: null },
  receivedAt: 0,
  seals: [{ domain: 'a.example', selector: 's' }],
  forwardHeader: null,
}
const MAIL = {
  kind: 'mail',
  bugs: ['one'],
  result: {
    verdicts: { spf: 'pass', dkim: 'none', dmarc: 'fail', arc: 'none' },
    dmarcPolicy: 'reject',
    dmarcReason: 'not aligned',
    head: {
      from: 'a@b',
      fromHeader: 'A <a@b>',
      subject: 's',
      messageId: '<1>',
      hops: 0,
      answers: [],
      autoSubmitted: false,
      loop: null,
    },
    raw: blob('raw'),
    parsed: blob('parsed'),
    attachments: { first: [{ filename: 'a.png', contentType: 'image/png', sizeBytes: 3, contentId: null }], count: 1 },
    parseError: null,
    forwards: [blob('mime')],
  },
}
const REPORT_JOB: ReaderJob = { kind: 'report', jobId: 2, raw: RAW, returnPath: '' }
const reportOf = (content: object) => ({ kind: 'report', digest: new Uint8Array(32), content })
const RECIPIENT = {
  action: 'failed',
  finalRecipient: 'a@b',
  originalRecipient: null,
  status: '5.1.1',
  diagnostic: 'no',
  remoteMta: null,
}
const DSN = reportOf({
  kind: 'dsn',
  dsn: { form: 'standard', reportingMta: null, isAfterRecipient: false, words: 'gone', recipients: [RECIPIENT] },
})
const COMPLAINT = reportOf({ kind: 'complaint', complaint: { feedbackType: 'abuse', userAgent: null, tagged: ['x@'] } })
const OTHER = reportOf({ kind: 'other', unclassified: { excerpt: 'hello', tagged: ['x@'] } })
const ATTACHMENT_JOB: ReaderJob = { kind: 'attachment', jobId: 3, raw: RAW, place: 1 }
const ATTACHMENT = { kind: 'attachment', content: new Uint8Array(5) }
const POST_JOB: ReaderJob = {
  kind: 'post',
  jobId: 4,
  replies: 'left_out',
  message: inboundMessage({ id: 'inb_1', organizationId: 'org_1', domainId: 'dom_1', routeId: null, receivedAt: 0 }),
  parsed: blob('parsed', MEBIBYTE),
  raw: blob('raw', MEBIBYTE),
}
const POST = { kind: 'post', body: new Uint8Array(5) }

/** The check of an answer that may have any form. */
const check = (job: ReaderJob, answer: unknown) => isAnswerTo(job, answer as ReaderAnswer)

/** A copy of the answer with another value at `path`, such as `result.head.hops`. */
function changed(answer: object, path: string, value: unknown): unknown {
  const copy = structuredClone(answer)
  const names = path.split('.')
  let place = copy as Record<string, unknown>
  for (const name of names.slice(0, -1)) place = place[name] as Record<string, unknown>
  place[names.at(-1)!] = value
  return copy
}

test.each([
  ['mail', MAIL_JOB, MAIL],
  ['delivery report', REPORT_JOB, DSN],
  ['complaint', REPORT_JOB, COMPLAINT],
  ['person', REPORT_JOB, OTHER],
  ['notice', REPORT_JOB, reportOf({ kind: 'notice', unclassified: { excerpt: '', tagged: [] } })],
  ['automatic reply', REPORT_JOB, reportOf({ kind: 'auto_reply' })],
  ['attachment', ATTACHMENT_JOB, ATTACHMENT],
  ['no attachment', ATTACHMENT_JOB, { kind: 'attachment', content: null }],
  ['post', POST_JOB, POST],
  ['no post', POST_JOB, { kind: 'post', body: null }],
] as const)('an intact answer fits: %s', (_what, job, answer) => {
  expect(check(job, answer)).toBe(true)
})

test('an answer to another kind of job does not fit', () => {
  const answers = [MAIL, DSN, ATTACHMENT, POST]
  const jobs = [MAIL_JOB, REPORT_JOB, ATTACHMENT_JOB, POST_JOB]
  jobs.forEach((job, at) => {
    answers.forEach((answer, other) => {
      expect(check(job, answer)).toBe(at === other)
    })
  })
  for (const answer of [null, 'mail', [], { kind: 'unknown' }, {}]) expect(check(MAIL_JOB, answer)).toBe(false)
})

const LONG = 'x'.repeat(1_000_001)
describe('a mail', () => {
  test.each<[string, unknown]>([
    ['bugs', 'one'],
    ['bugs', Array(11).fill('x')],
    ['bugs', ['x'.repeat(BUG_CHARACTERS + 1)]],
    ['result', null],
    ['result.verdicts', null],
    ['result.verdicts.spf', 'policy'],
    ['result.verdicts.dkim', 'softfail'],
    ['result.verdicts.dmarc', 'neutral'],
    ['result.verdicts.arc', 'permerror'],
    ['result.verdicts.arc', undefined],
    ['result.attachments', undefined],
    ['result.attachments.count', -1],
    ['result.attachments.first', Array(51).fill({ filename: '', contentType: '', sizeBytes: 0, contentId: null })],
    ['result.attachments.first', [{ filename: 'x'.repeat(256), contentType: '', sizeBytes: 0, contentId: null }]],
    ['result.attachments.first', [{ filename: '', contentType: 7, sizeBytes: 0, contentId: null }]],
    ['result.attachments.first', [{ filename: '', contentType: '', sizeBytes: 0, contentId: 'x'.repeat(256) }]],
    ['result.dmarcPolicy', 'accept'],
    ['result.dmarcReason', 7],
    ['result.dmarcReason', LONG],
    ['result.parseError', undefined],
    ['result.parseError', LONG],
    ['result.head', []],
    ['result.head.from', LONG],
    ['result.head.fromHeader', null],
    ['result.head.subject', LONG],
    ['result.head.messageId', 1],
    ['result.head.hops', -1],
    ['result.head.hops', 1.5],
    ['result.head.hops', '1'],
    ['result.head.loop', LONG],
    ['result.raw', blob('parsed')],
    ['result.raw', new Uint8Array(0)],
    ['result.raw', 'text'],
    ['result.raw', blob('raw', RAW.byteLength + MEBIBYTE + 1)],
    ['result.parsed', blob('raw')],
    ['result.parsed', blob('parsed', 8 * RAW.byteLength + 8 * MEBIBYTE + 1)],
    ['result.forwards', []],
    ['result.forwards', [blob('mime'), blob('mime')]],
    ['result.forwards', [blob('raw')]],
    ['result.forwards', [blob('mime', RAW.byteLength + MEBIBYTE + 1)]],
    ['result.forwards', { length: 1 }],
  ])('does not fit with %s as %p', (path, value) => {
    expect(check(MAIL_JOB, changed(MAIL, path, value))).toBe(false)
  })

  test.each<[string, unknown]>([
    ['bugs', Array(10).fill('x'.repeat(BUG_CHARACTERS))],
    ['result.dmarcReason', null],
    ['result.parseError', 'x'.repeat(1_000_000)],
    ['result.head.hops', 30],
    ['result.head.loop', 'x'],
    ['result.raw', blob('raw', RAW.byteLength + MEBIBYTE)],
    ['result.parsed', blob('parsed', 8 * RAW.byteLength + 8 * MEBIBYTE)],
  ])('fits up to the limit of %s', (path, value) => {
    expect(check(MAIL_JOB, changed(MAIL, path, value))).toBe(true)
  })
})

describe('a report', () => {
  const TEXT = 'x'.repeat(10_001)
  test.each<[string, object, string, unknown]>([
    ['any', OTHER, 'digest', new Uint8Array(31)],
    ['any', OTHER, 'digest', 'x'.repeat(32)],
    ['any', OTHER, 'content', null],
    ['any', OTHER, 'content.kind', 'unreadable'],
    ['any', OTHER, 'content.unclassified', null],
    ['any', OTHER, 'content.unclassified.excerpt', TEXT],
    ['any', OTHER, 'content.unclassified.tagged', Array(51).fill('x@')],
    ['any', OTHER, 'content.unclassified.tagged', ['x'.repeat(1_001)]],
    ['complaint', COMPLAINT, 'content.complaint', null],
    ['complaint', COMPLAINT, 'content.complaint.feedbackType', TEXT],
    ['complaint', COMPLAINT, 'content.complaint.userAgent', TEXT],
    ['complaint', COMPLAINT, 'content.complaint.tagged', Array(51).fill('x@')],
    ['complaint', COMPLAINT, 'content.complaint.tagged', [1]],
    ['DSN', DSN, 'content.dsn', null],
    ['DSN', DSN, 'content.dsn.form', 'x'.repeat(1_001)],
    ['DSN', DSN, 'content.dsn.reportingMta', TEXT],
    ['DSN', DSN, 'content.dsn.isAfterRecipient', 'no'],
    ['DSN', DSN, 'content.dsn.words', TEXT],
    ['DSN', DSN, 'content.dsn.recipients', []],
    ['DSN', DSN, 'content.dsn.recipients', Array(1_001).fill(RECIPIENT)],
    ['DSN', DSN, 'content.dsn.recipients.0', null],
    ['DSN', DSN, 'content.dsn.recipients.0.action', 'eaten'],
    ['DSN', DSN, 'content.dsn.recipients.0.finalRecipient', TEXT],
    ['DSN', DSN, 'content.dsn.recipients.0.originalRecipient', 1],
    ['DSN', DSN, 'content.dsn.recipients.0.status', TEXT],
    ['DSN', DSN, 'content.dsn.recipients.0.diagnostic', TEXT],
    ['DSN', DSN, 'content.dsn.recipients.0.remoteMta', undefined],
  ])('%s: does not fit with %#', (_what, answer, path, value) => {
    expect(check(REPORT_JOB, changed(answer, path, value))).toBe(false)
  })

  test('fits up to the limits', () => {
    expect(check(REPORT_JOB, changed(DSN, 'content.dsn.recipients', Array(1_000).fill(RECIPIENT)))).toBe(true)
    expect(check(REPORT_JOB, changed(OTHER, 'content.unclassified.tagged', Array(50).fill('x'.repeat(1_000))))).toBe(
      true,
    )
    expect(check(REPORT_JOB, changed(OTHER, 'content.unclassified.excerpt', 'x'.repeat(10_000)))).toBe(true)
  })
})

test('an attachment is bytes, and no more than the mail could become', () => {
  const most = 8 * RAW.byteLength + MEBIBYTE
  const fits = (content: unknown) => check(ATTACHMENT_JOB, { kind: 'attachment', content })
  expect([fits(new Uint8Array(most)), fits(new Uint8Array(most + 1))]).toEqual([true, false])
  expect([fits('text'), fits(undefined), fits([new Uint8Array(1)])]).toEqual([false, false, false])
})

test('the body of a post is bytes, and no more than its mail could become', () => {
  const fits = (body: unknown, job = POST_JOB) => check(job, { kind: 'post', body })
  const most = 2 * 8 * MEBIBYTE + 2 * 6 * 2 * MEBIBYTE
  expect([fits(new Uint8Array(most)), fits(new Uint8Array(most + 1))]).toEqual([true, false])
  const ofTexts = 2 * 6 * 2 * MEBIBYTE
  const job: ReaderJob = { ...POST_JOB, raw: 'absent' }
  expect([fits(new Uint8Array(ofTexts), job), fits(new Uint8Array(ofTexts + 1), job)]).toEqual([true, false])
  expect(fits('text')).toBe(false)
  expect(fits(undefined)).toBe(false)
})
