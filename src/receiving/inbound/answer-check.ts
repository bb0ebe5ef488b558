import { AGGREGATE_LIMITS } from '../../mail/aggregate-report.ts'
import { type BlobKind, clearBytesOf, kindOfBlob } from '../../mail/blob.ts'
import type { PolicyReport } from '../../mail/policy-report.ts'
import { TLS_REPORT_LIMITS } from '../../mail/received-tls-report.ts'
import {
  type InboundAttachments,
  KEPT_CHARACTERS,
  LISTED_ATTACHMENTS,
  LISTED_CHARACTERS,
  MOST_ANSWERED,
} from '../../model/inbound-message.ts'
import { isOneOf } from '../../os/records.ts'
import type { ReportContent } from '../feedback/content.ts'
import type { InboundResult, MailHead, ReaderAnswer, ReaderJob } from './inbound-result.ts'
import type { ReportRead } from './report-read.ts'

/** Whether a reader's answer fits this job: the right kind, with every part of the type and size that an intact reader
 *  produces. The content itself is trusted within those bounds: no text exceeds what the mail's header allows, no blob
 *  unpacks to more than the mail could become. Constant time for blobs, linear for short texts. */
export function isAnswerTo(job: ReaderJob, answer: ReaderAnswer): boolean {
  if (!isRecord(answer) || answer.kind !== job.kind) return false
  switch (answer.kind) {
    case 'mail':
      return (
        job.kind === 'mail' &&
        isListOf(answer.bugs, MAX_BUGS, (bug) => isText(bug, BUG_CHARACTERS)) &&
        isInboundResult(answer.result, job.raw.byteLength, job.seals.length)
      )
    case 'report':
      return isBytes(answer.digest) && answer.digest.byteLength === 32 && isContent(answer.content)
    case 'policy_report':
      return isListOf(answer.bugs, MAX_BUGS, (bug) => isText(bug, BUG_CHARACTERS)) && isReportRead(answer.read)
    case 'attachment':
      return (
        job.kind === 'attachment' &&
        (answer.content === null ||
          (isBytes(answer.content) && answer.content.byteLength <= LARGEST_TEXT * job.raw.byteLength + SLACK))
      )
    case 'post':
      return (
        job.kind === 'post' &&
        (answer.body === null || (isBytes(answer.body) && answer.body.byteLength <= mostPostBytes(job)))
      )
    default:
      return false
  }
}

/** Texts are in the JSON once, attachments in base64, and the names of attachments twice. */
function mostPostBytes({ parsed, raw }: Extract<ReaderJob, { kind: 'post' }>): number {
  const attachments = typeof raw === 'string' ? 0 : 2 * LARGEST_TEXT * (clearBytesOf(raw) ?? 0)
  return attachments + 2 * LARGEST_ESCAPE * ((clearBytesOf(parsed) ?? 0) + SLACK)
}

/** Internal errors reported while a mail was read. */
const MAX_BUGS = 10
export const BUG_CHARACTERS = 4_000
/** What our own fields, a version byte and a frame add to a mail. */
const SLACK = 2 ** 20
/** A byte of another charset becomes up to three bytes of UTF-8; a byte of a file name up to six of JSON. */
const LARGEST_TEXT = 8
/** A control character of one byte becomes `\\u0000`. RFC 8259 §7 */
const LARGEST_ESCAPE = 6
/** SCAN_LIMITS.headerBytes, decoded. */
const HEADER_CHARACTERS = 1_000_000
const SHORT_CHARACTERS = 1_000

const VERDICTS = {
  spf: ['pass', 'fail', 'softfail', 'neutral', 'none', 'temperror', 'permerror'],
  dkim: ['pass', 'fail', 'policy', 'neutral', 'none', 'temperror', 'permerror'],
  dmarc: ['pass', 'fail', 'none', 'temperror', 'permerror'],
  arc: ['pass', 'fail', 'none'],
}
const POLICIES = ['none', 'quarantine', 'reject']

function isInboundResult(result: InboundResult, rawBytes: number, seals: number): boolean {
  return (
    isRecord(result) &&
    isRecord(result.verdicts) &&
    Object.entries(VERDICTS).every(([method, known]) =>
      known.includes((result.verdicts as unknown as Record<string, string>)[method]!),
    ) &&
    POLICIES.includes(result.dmarcPolicy) &&
    (result.dmarcReason === null || isText(result.dmarcReason, HEADER_CHARACTERS)) &&
    (result.parseError === null || isText(result.parseError, HEADER_CHARACTERS)) &&
    isHead(result.head) &&
    isListed(result.attachments) &&
    isBlob(result.raw, 'raw', rawBytes + SLACK) &&
    isBlob(result.parsed, 'parsed', LARGEST_TEXT * rawBytes + 8 * SLACK) &&
    Array.isArray(result.forwards) &&
    result.forwards.length === seals &&
    result.forwards.every((each) => isBlob(each, 'mime', rawBytes + SLACK))
  )
}

function isHead(head: MailHead): boolean {
  return (
    isRecord(head) &&
    [head.from, head.fromHeader].every((text) => isText(text, HEADER_CHARACTERS)) &&
    [head.subject, head.messageId].every((text) => isText(text, KEPT_CHARACTERS)) &&
    isCount(head.hops) &&
    typeof head.autoSubmitted === 'boolean' &&
    isListOf(head.answers, MOST_ANSWERED, (each) => isText(each, HEADER_CHARACTERS)) &&
    (head.loop === null || isText(head.loop, HEADER_CHARACTERS))
  )
}

function isListed(attachments: InboundAttachments): boolean {
  return (
    isRecord(attachments) &&
    isCount(attachments.count) &&
    isListOf(
      attachments.first,
      LISTED_ATTACHMENTS,
      (each) =>
        isRecord(each) &&
        isText(each.filename, LISTED_CHARACTERS) &&
        isText(each.contentType, LISTED_CHARACTERS) &&
        isCount(each.sizeBytes) &&
        (each.contentId === null || isText(each.contentId, LISTED_CHARACTERS)),
    )
  )
}

const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
/** Same limit as dsn.ts. */
const MAX_RECIPIENTS = 1_000
/** Only our own reports carry tags. */
const MAX_TAGGED_FIELDS = 50
const REPORT_CHARACTERS = 10_000

function isContent(content: ReportContent): boolean {
  if (!isRecord(content)) return false
  const isShort = (value: unknown) => value === null || isText(value, REPORT_CHARACTERS)
  switch (content.kind) {
    case 'auto_reply':
      return true
    case 'notice':
    case 'other':
      return isUnclassified(content.unclassified)
    case 'dsn': {
      const { dsn } = content
      if (!isRecord(dsn) || !isText(dsn.form, SHORT_CHARACTERS) || !isShort(dsn.reportingMta)) return false
      if (typeof dsn.isAfterRecipient !== 'boolean' || !isShort(dsn.words)) return false
      return (
        isListOf(dsn.recipients, MAX_RECIPIENTS, (each) => {
          if (!isRecord(each) || !isOneOf(ACTIONS, each.action)) return false
          return ['finalRecipient', 'originalRecipient', 'status', 'diagnostic', 'remoteMta'].every((key) =>
            isShort(each[key]),
          )
        }) && dsn.recipients.length > 0
      )
    }
    case 'complaint': {
      const { complaint } = content
      return (
        isRecord(complaint) &&
        isText(complaint.feedbackType, REPORT_CHARACTERS) &&
        isShort(complaint.userAgent) &&
        isListOf(complaint.tagged, MAX_TAGGED_FIELDS, (text) => isText(text, SHORT_CHARACTERS))
      )
    }
    default:
      return false
  }
}

function isReportRead(read: ReportRead): boolean {
  return (
    isRecord(read) &&
    typeof read.isUndecided === 'boolean' &&
    (read.reporter === null || (isText(read.reporter, SHORT_CHARACTERS) && /^[\w.-]+$/.test(read.reporter))) &&
    isPolicyReport(read.content)
  )
}

function isPolicyReport(content: PolicyReport): boolean {
  if (!isRecord(content)) return false
  switch (content.kind) {
    case 'none':
      return true
    case 'damaged':
      return isText(content.why, SHORT_CHARACTERS)
    case 'dmarc': {
      const { report } = content
      return (
        isReportHead(report) &&
        isText(report.domain, SHORT_CHARACTERS) &&
        POLICIES.includes(report.policy) &&
        isListOf(report.sources, AGGREGATE_LIMITS.sources + 1, isSource)
      )
    }
    case 'tls':
      return isReportHead(content.report) && isListOf(content.report.policies, TLS_REPORT_LIMITS.policies, isTlsPolicy)
    default:
      return false
  }
}

const isReportHead = (head: unknown) =>
  isRecord(head) &&
  isText(head.organization, SHORT_CHARACTERS) &&
  isText(head.reportId, SHORT_CHARACTERS) &&
  isCount(head.beginsAt) &&
  isCount(head.endsAt)
const isSource = (source: unknown) =>
  isRecord(source) &&
  isText(source.sourceIp, SHORT_CHARACTERS) &&
  ['messages', 'spfAligned', 'dkimAligned', 'passed', 'quarantined', 'rejected'].every((name) => isCount(source[name]))
const isTlsPolicy = (policy: unknown) =>
  isRecord(policy) &&
  isText(policy.domain, SHORT_CHARACTERS) &&
  isText(policy.type, SHORT_CHARACTERS) &&
  isCount(policy.successful) &&
  isCount(policy.failed) &&
  isListOf(
    policy.failures,
    TLS_REPORT_LIMITS.failures,
    (failure) =>
      isRecord(failure) &&
      isText(failure.result, SHORT_CHARACTERS) &&
      isText(failure.host, SHORT_CHARACTERS) &&
      isCount(failure.sessions),
  )
const isUnclassified = (said: unknown) =>
  isRecord(said) &&
  isText(said.excerpt, REPORT_CHARACTERS) &&
  isListOf(said.tagged, MAX_TAGGED_FIELDS, (text) => isText(text, SHORT_CHARACTERS))
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value.length <= most
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array
const isListOf = (value: unknown, most: number, isOne: (each: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.length <= most && value.every(isOne)

function isBlob(value: unknown, kind: BlobKind, mostClearBytes: number): boolean {
  if (!isBytes(value) || kindOfBlob(value) !== kind || value.byteLength > mostClearBytes + SLACK) return false
  const clear = clearBytesOf(value)
  return clear !== null && clear <= mostClearBytes
}
