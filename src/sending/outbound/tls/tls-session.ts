import { listsHost, type MtaSts } from '../../../mail/mta-sts.ts'
import type { TlsFailure, TlsSession } from '../../../model/tls-session.ts'
import type { Offered } from '../smtp/offered.ts'
import type { Peer } from '../smtp/peer.ts'
import type { Answer } from '../smtp/reply.ts'
import type { HostPolicy } from './host-policy.ts'

/** An offered mail → its TLS session as counted by TLS reports (RFC 8460 §4.3). Null when the connection is already
 *  counted, or ended before TLS could start. */
export function tlsSessionOf(
  offered: Offered,
  peer: Peer,
  policy: HostPolicy['name'],
  mtaSts: MtaSts | null,
): TlsSession | null {
  if (!offered.isFirst) return null
  const { answer, tls, sourceAddress } = offered
  const failure = offered.tlsTrouble ?? troubleIn(answer)
  if (failure === null && tls === null && isBeforeTls(answer)) return null
  const session = { policy, host: peer.host, address: peer.address, source: sourceAddress }
  if (failure !== null) return { ...session, failure }
  if (tls === null) return { ...session, failure: 'starttls-not-supported' }
  if (policy !== 'mta_sts_testing') return { ...session, failure: null }
  if (mtaSts !== null && !listsHost(mtaSts.mx, peer.host)) return { ...session, failure: 'validation-failure' }
  return { ...session, failure: tls.problem === null ? null : certificateFailure(tls.problem) }
}

/** A host that its policy excluded → the session that was not made. */
export function skippedSession(host: string, policy: HostPolicy['name']): TlsSession {
  const failure = policy === 'dane' ? 'dnssec-invalid' : 'validation-failure'
  return { policy, host, address: null, source: null, failure }
}

/** The TLS library's certificate error → the report's failure type. */
export function certificateFailure(problem: string): TlsFailure {
  if (/EXPIRED|expired/.test(problem)) return 'certificate-expired'
  if (/ALTNAME|Hostname|altname|is not for/.test(problem)) return 'certificate-host-mismatch'
  return /TLSA/.test(problem) ? 'validation-failure' : 'certificate-not-trusted'
}

function troubleIn(answer: Answer): TlsFailure | null {
  if (answer.kind !== 'fault') return null
  return answer.fault.tls ?? (answer.stage === 'starttls' ? 'validation-failure' : null)
}

function isBeforeTls(answer: Answer): boolean {
  return answer.kind !== 'unfit' && BEFORE_TLS.has(answer.stage)
}

const BEFORE_TLS = new Set(['connect', 'greeting', 'ehlo'])
