import type { Log } from './log.ts'

/** The closed list of log lines about mail, for operators to search. They contain ids, never subjects, bodies or secrets. */
export interface MailLog {
  accepted(fact: { message: string; mode: string; recipients: number; sizeBytes: number }): void
  delivered(fact: Attempted): void
  deferred(fact: Attempted & { nextAttemptAt: number | null }): void
  bounced(fact: Attempted & { type: string }): void
  suppressed(fact: { message: string; recipients: number }): void
  /** Inbound mail was accepted; `route` is null for mail stored for postmaster and abuse. */
  received(fact: {
    inbound: string
    route: string | null
    sizeBytes: number
    spf: string
    dkim: string
    dmarc: string
  }): void
  /** A bounce, complaint or unsubscribe request arrived for a delivery. */
  reported(fact: { message: string; delivery: string; kind: string; status: string | null }): void
  /** Mail to the report address of a domain. `reporter`: the authenticated domain; null if there is none. */
  policyReport(fact: {
    domain: string
    kind: 'dmarc' | 'tls' | 'unknown'
    outcome: ReportOutcome
    reporter: string | null
  }): void
  /** An SMTP listener refused a client. */
  refused(fact: { listener: string; address: string; reply: string }): void
}

/** What a mail to a report address came to: only `stored` counts. */
export type ReportOutcome =
  | 'stored'
  | 'repeated'
  | 'limit'
  | 'other_domain'
  | 'out_of_time'
  | 'damaged'
  | 'unauthenticated'
  | 'no_report'

interface Attempted {
  message: string
  delivery: string
  attempt: number
  host: string | null
  relay?: string
  durationMs: number
  reply: string | null
}

/** Creates a MailLog that writes one line at level info per call, named like its method. */
export function createMailLog(log: Log): MailLog {
  const attempted = ({ message, delivery, durationMs, ...rest }: Attempted) => ({
    message_id: message,
    delivery_id: delivery,
    ...rest,
    duration_ms: durationMs,
  })
  return {
    accepted: ({ message, mode, recipients, sizeBytes }) =>
      log.info('accepted', { message_id: message, mode, recipients, size_bytes: sizeBytes }),
    delivered: (fact) => log.info('delivered', attempted(fact)),
    deferred: ({ nextAttemptAt, ...fact }) =>
      log.info('deferred', {
        ...attempted(fact),
        next_attempt_at: nextAttemptAt && new Date(nextAttemptAt).toISOString(),
      }),
    bounced: ({ type, ...fact }) => log.info('bounced', { ...attempted(fact), bounce_type: type }),
    suppressed: ({ message, recipients }) => log.info('suppressed', { message_id: message, recipients }),
    received: ({ inbound, route, sizeBytes, ...verdicts }) =>
      log.info('received', { inbound_id: inbound, route_id: route, size_bytes: sizeBytes, ...verdicts }),
    reported: ({ message, delivery, ...fact }) =>
      log.info('reported', { message_id: message, delivery_id: delivery, ...fact }),
    policyReport: ({ domain, ...fact }) => log.info('policy report', { domain_id: domain, ...fact }),
    refused: ({ listener, ...fact }) => log.info('refused', { door: listener, ...fact }),
  }
}
