import type { Certificate } from '../net/tls/certificate.ts'

/** What an SMTP listener is told once. */
export interface ListenerSettings {
  /** Our name in the greeting. */
  hostname: string
  tls: 'starttls' | 'implicit'
  certificate: Certificate
  /** False: clients on loopback may say AUTH in clear. All others need TLS anyway. Ignored where the door has no onLogin. */
  loginNeedsTls: boolean
  /** Where large mails wait until they are read. */
  spoolDir: string
  limits: ListenerLimits
}

/** What one listener puts up with. */
export interface ListenerLimits {
  messageBytes: number
  recipients: number
  connections: number
  connectionsPerAddress: number
  /** From one /24 or /56, and whom that does not concern. */
  connectionsPerNetwork: number
  isUnlimited: (address: string) => boolean
  /** Between two commands, and between two pieces of a mail. */
  idleMs: number
  /** The same while connections run short (stress.ts). */
  stressedIdleMs: number
  /** For one mail from DATA to its dot, at most: it begins with `idleMs` and gets a second for each 16 kB that come. */
  dataMs: number
  /** Whole mails from files that are in memory at once, in bytes: more wait in their files. */
  memoryBytes: number
}

/** RFC 5321 §4.5.3.2 asks for five minutes of patience; a loaded server may have less. The rest is ours. */
export const LIMITS = {
  recipients: 100, // RFC 5321 §4.5.3.1.8
  idleMs: 300_000,
  stressedIdleMs: 10_000, // as Postfix (smtpd_timeout under stress)
  connectionsPerNetwork: Number.POSITIVE_INFINITY,
  isUnlimited: () => false,
  dataMs: 900_000,
  memoryBytes: 32 * 2 ** 20, // one of the largest, and small ones beside it
}
