import { cutText } from '../../mail/cut-text.ts'
import type { PolicyReport } from '../../mail/policy-report.ts'
import type { TlsReport } from '../../mail/received-tls-report.ts'
import type { Domain } from '../../model/domain.ts'
import { type ReceivedReport, type TlsResult, UNSPECIFIED_RESULT } from '../../model/policy-report.ts'
import type { MailLog, ReportOutcome } from '../../os/mail-log.ts'
import type { Store } from '../../storage/store.ts'
import type { IncomingMail } from '../smtp-server/session.ts'
import type { Readers } from './readers.ts'
import type { RecipientTarget } from './recipient.ts'
import * as replies from './replies.ts'

interface ReportDeps {
  store: Pick<Store, 'policyReports'>
  readers: Pick<Readers, 'policyReport'>
  mailLog: Pick<MailLog, 'policyReport'>
}

/** The path of a mail to a report address: its report counts, and the mail is not kept.
 *
 *  Refused permanently: mail without a report (550 5.7.1), and mail that neither SPF nor DKIM of its author's domain
 *  authenticates. Deferred: while DNS gives no answer.
 *  Accepted and ignored: reports that are damaged, repeated, beyond the limits, about another domain, or older than a
 *  month. Their senders cannot do anything about a refusal, and some stop sending reports after one.
 *  Every outcome is logged and counted. Rejects with SmtpReply, and what the store throws. */
export async function receiveReport(
  mail: IncomingMail<RecipientTarget>,
  domain: Domain,
  { store, readers, mailLog }: ReportDeps,
): Promise<string> {
  const { helo, protocol, tls, remoteAddress } = mail.session
  const recipients = mail.recipients.map(({ spoken }) => spoken.address)
  const envelope = { remoteAddress, helo, returnPath: mail.returnPath?.address ?? '', recipients, protocol, tls }
  const read = await readers.policyReport({ raw: await mail.open(), envelope })
  const log = (outcome: ReportOutcome, kind: 'dmarc' | 'tls' | 'unknown' = 'unknown') =>
    mailLog.policyReport({ domain: domain.id, kind, outcome, reporter: read?.reporter ?? null })

  if (read === null) {
    log('damaged')
    return replies.FEEDBACK_ACCEPTED
  }
  if (read.isUndecided) throw replies.cannotAuthenticate()
  if (read.reporter === null) {
    log('unauthenticated')
    throw replies.notAuthenticated('neither SPF nor DKIM authenticates the author domain of the report')
  }
  const { content, reporter } = read
  if (content.kind === 'none') {
    log('no_report')
    throw replies.noReport()
  }
  if (content.kind === 'damaged') {
    log('damaged')
    return replies.FEEDBACK_ACCEPTED
  }
  const report = reportFor(domain, content, { reporter, receivedAt: mail.receivedAt })
  log(typeof report === 'string' ? report : await store.policyReports.add(report), content.kind)
  return replies.FEEDBACK_ACCEPTED
}

/** A domain's report → its record, or why it does not count. */
function reportFor(
  { id, organizationId, name }: Domain,
  content: Extract<PolicyReport, { report: unknown }>,
  { reporter, receivedAt }: Pick<ReceivedReport, 'reporter' | 'receivedAt'>,
): ReceivedReport | 'other_domain' | 'out_of_time' {
  const { beginsAt, endsAt, reportId } = content.report
  const about =
    content.kind === 'dmarc'
      ? content.report.domain === name && { kind: content.kind, sources: content.report.sources }
      : resultsFor(name, content.report)
  if (!about) return 'other_domain'
  if (endsAt < receivedAt - OLDEST_MS || endsAt > receivedAt + AHEAD_MS || endsAt - beginsAt > OLDEST_MS) {
    return 'out_of_time'
  }
  // Reports without an ID count once for each period.
  const ownId = reportId === '' ? `${beginsAt}-${endsAt}` : reportId
  return { organizationId, domainId: id, reporter, reportId: ownId, receivedAt, beginsAt, endsAt, content: about }
}

const DAY_MS = 86_400_000
const OLDEST_MS = 31 * DAY_MS
/** Clocks differ, and some reporters send before the period ends. */
const AHEAD_MS = DAY_MS
/** A row of the store for each. */
const MAX_RESULTS = 100
const MAX_WORD = 60

function resultsFor(name: string, { policies }: TlsReport): { kind: 'tls'; results: TlsResult[] } | false {
  const ours = policies.filter(({ domain }) => domain === name)
  if (ours.length === 0) return false
  const results = ours.flatMap(({ type, successful, failed, failures }) => {
    const policy = cutText(type, MAX_WORD)
    const explained = failures.reduce((sum, { sessions }) => sum + sessions, 0)
    return [
      { policy, result: '', host: '', sessions: successful },
      ...failures.map(({ result, host, sessions }) => ({
        policy,
        result: cutText(result, MAX_WORD) || UNSPECIFIED_RESULT,
        host,
        sessions,
      })),
      { policy, result: UNSPECIFIED_RESULT, host: '', sessions: failed - explained },
    ]
  })
  return { kind: 'tls', results: results.filter(({ sessions }) => sessions > 0).slice(0, MAX_RESULTS) }
}
