import { parseMailbox } from '../../mail/address.ts'
import { readTlsRpt, tlsReportMail } from '../../mail/tls-report.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Post } from '../../net/https/requests.ts'
import type { Log } from '../../os/log.ts'
import { PLAIN } from '../../sending/submission/request.ts'
import type { Submission } from '../../sending/submission/submission.ts'
import { type Reporter, tlsReport } from '../../sending/tls-policy/report.ts'
import type { Store } from '../../storage/store.ts'

/** Key ID under which report mails are accepted. It belongs to no API key, and callers cannot name it. */
const REPORT_AUTHOR = 'tls-reports'

/** Sends TLS reports of past days to domains that request them (RFC 8460). */
export interface TlsReports {
  /** Reports to some domains; does nothing during another call, also of another node. Never rejects. */
  send(now: number): Promise<void>
}

/** `from` is an address at a verified domain of this server. Reports by mail are accepted in its organization, like
 *  any other mail. With '' no reports are sent, and counts from before are deleted. So are the counts of a domain
 *  that requests no reports. DNS failures are retried for two days. A report lost in transit is not sent again; one
 *  repeated after a crash has the same ID. */
export function createTlsReports(deps: {
  store: Pick<Store, 'tlsSessions' | 'mtaSts' | 'domains' | 'leases'>
  resolver: Pick<Resolver, 'txt'>
  submission: Pick<Submission, 'submit'>
  post: Post
  reporter: Reporter
  from: string
  log: Log
}): TlsReports {
  const { store, resolver, log } = deps
  let after = START
  let isSending = false

  /** `later` keeps the counts. */
  const report = async (due: { domain: string; day: number }, now: number): Promise<'done' | 'later'> => {
    if (deps.from === '') return 'done'
    const txt = await resolver.txt(`_smtp._tls.${due.domain}`)
    if (txt.kind === 'temporary') return now - due.day < PATIENCE_MS ? 'later' : 'done'
    const places = txt.kind === 'records' ? readTlsRpt(txt.records) : []
    if (places.length === 0) return 'done'
    const counts = await store.tlsSessions.of(due.domain, due.day)
    const made = tlsReport(due, counts, await store.mtaSts.get(due.domain), deps.reporter)
    for (const place of places) {
      await bring(place, due.domain, made).catch((error) =>
        log.warn('TLS report not sent', { domain: due.domain, error }),
      )
    }
    return 'done'
  }

  const bring = async (place: string, domain: string, made: ReturnType<typeof tlsReport>): Promise<void> => {
    if (place.toLowerCase().startsWith('https:')) {
      const headers = { 'Content-Type': 'application/tlsrpt+gzip' }
      const answer = await deps.post(place, { headers, body: made.gzipped, timeoutMs: POST_MS })
      if (answer.kind !== 'answered' || answer.status >= 300) log.info('TLS report rejected', { domain })
      return
    }
    await mail(decodeURIComponent(place.slice('mailto:'.length)), domain, made)
  }

  const mail = async (to: string, domain: string, made: ReturnType<typeof tlsReport>): Promise<void> => {
    const [sender, recipient] = [parseMailbox(deps.from), parseMailbox(to)]
    const own = sender === null ? null : await store.domains.findByName(sender.domain)
    if (sender === null || own === null) throw new Error('reports.from must be at a verified domain of this server')
    if (recipient === null) throw new Error('the domain publishes an invalid address for reports')
    const { submitter } = deps.reporter
    const bytes = tlsReportMail({ ...made, from: sender.address, to: recipient.address, domain, submitter })
    const key = { id: REPORT_AUTHOR, organizationId: own.organizationId, domainId: own.id, mode: 'live' as const }
    await deps.submission.submit(
      { key, source: 'smtp' },
      {
        ...PLAIN,
        from: { asSent: sender.address, mailbox: sender },
        to: { asSent: recipient.address, mailboxes: [recipient] },
        subject: `Report Domain: ${domain} Submitter: ${submitter} Report-ID: <${made.reportId}>`,
        mime: { bytes, messageId: null, hasDate: false },
        tags: ['tls-report'],
        expiresInSeconds: DAY_MS / 1000,
      },
    )
  }

  return {
    send: async (now) => {
      if (isSending) return
      isSending = true
      try {
        for (let turn = 0; turn < DOMAINS_A_TURN; turn++) {
          if (!(await store.leases.take(LEASE, LEASE_MS))) return
          // Not at midnight, when other servers report too.
          const due = await store.tlsSessions.next(after, now - AFTER_MS - DAY_MS + 1)
          after = due ?? START
          if (due === null) return
          if ((await report(due, now)) === 'done') await store.tlsSessions.remove(due.domain, due.day)
        }
      } catch (error) {
        log.error('TLS reports failed', { error })
      } finally {
        await store.leases.release(LEASE).catch(() => {}) // it ends by itself
        isSending = false
      }
    },
  }
}

const START = { domain: '', day: 0 }
const LEASE = 'TLS reports'
/** Longer than the reports to one domain take. */
const LEASE_MS = 5 * 60_000
const DAY_MS = 86_400_000
const AFTER_MS = 60 * 60_000
const PATIENCE_MS = 3 * DAY_MS
const POST_MS = 30_000
const DOMAINS_A_TURN = 50
