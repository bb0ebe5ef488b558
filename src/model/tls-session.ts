import type { TlsPolicy } from './tls-policy.ts'

/** TLS failures, with the names of RFC 8460 §4.3. */
export type TlsFailure =
  | 'starttls-not-supported'
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted'
  | 'validation-failure'
  | 'dnssec-invalid'
  | 'sts-policy-fetch-error'
  | 'sts-policy-invalid'
  | 'sts-webpki-invalid'

/** One connection to a mail host for TLS reports: its policy and the TLS failure; `failure` null = none. Host and
 *  addresses are null without a connection. */
export interface TlsSession {
  policy: TlsPolicy
  host: string | null
  address: string | null
  source: string | null
  failure: TlsFailure | null
}

/** Number of such connections to a domain in a UTC day. */
export interface TlsCount extends TlsSession {
  domain: string
  /** Start of the day, ms UTC. */
  day: number
  sessions: number
}
