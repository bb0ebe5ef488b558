import type { Certificate } from '../../net/tls/certificate.ts'

/** Settings of one SMTP listener, fixed at start. */
export interface ListenerSettings {
  /** Our name in the greeting. */
  hostname: string
  tls: 'starttls' | 'implicit'
  certificate: Certificate
  /** False: loopback clients may use AUTH without TLS; all others need TLS. Ignored without onLogin. */
  loginNeedsTls: boolean
  /** Folder for large mail that waits to be read. */
  spoolDir: string
  limits: ListenerLimits
}

/** Limits of one listener. */
export interface ListenerLimits {
  messageBytes: number
  recipients: number
  connections: number
  connectionsPerAddress: number
  /** Per /24 (IPv4) or /56 (IPv6); `isUnlimited` exempts addresses. */
  connectionsPerNetwork: number
  isUnlimited: (address: string) => boolean
  /** Between two commands, and between two pieces of a mail. */
  idleMs: number
  /** The idle limit under stress (stress.ts). */
  stressedIdleMs: number
  /** Maximum for one mail from DATA to its end. A mail starts with `idleMs` and gains one second per 16 kB. */
  dataMs: number
  /** Total bytes of spooled mail in memory at once. Further mail waits in its file. */
  memoryBytes: number
}

/** RFC 5321 §4.5.3.2 asks for five minutes; a loaded server may use less. The other values are our own. */
export const LIMITS = {
  recipients: 100, // RFC 5321 §4.5.3.1.8
  idleMs: 300_000,
  stressedIdleMs: 10_000, // as Postfix (smtpd_timeout under stress)
  connectionsPerNetwork: Number.POSITIVE_INFINITY,
  isUnlimited: () => false,
  dataMs: 900_000,
  memoryBytes: 32 * 2 ** 20, // one mail of the largest size plus small ones
}
