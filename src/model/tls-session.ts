import type { TlsPolicy } from './tls-policy.ts'

/** What went wrong with TLS, in the words of RFC 8460 §4.3. */
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

/** One connection to a mail host as its domain wants to hear of it: under which policy, and what was wrong with TLS;
 *  `failure` null = nothing. Host and addresses are null where there was no connection. */
export interface TlsSession {
  policy: TlsPolicy
  host: string | null
  address: string | null
  source: string | null
  failure: TlsFailure | null
}

/** How many such connections there were to a domain in a UTC day. */
export interface TlsCount extends TlsSession {
  domain: string
  /** ms UTC, its first. */
  day: number
  sessions: number
}
