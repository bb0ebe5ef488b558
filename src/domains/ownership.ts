import { createHash } from 'node:crypto'
import type { Domain, FailureReason, Proof } from '../model/domain.ts'

/** Domain ownership as proved by DNS. */

/** DNS result for one kind of proof. `unknown`: no answer, which neither proves nor disproves. */
export type Sight = 'seen' | 'gone' | 'unknown'

export interface Look {
  dkim: Sight
  txt: Sight
  /** A DKIM record exists with other content. */
  isMismatch: boolean
}

export type OwnershipState = Pick<Domain, 'status' | 'provedBy' | 'missingSince' | 'reason'>

/** How long a proved name stays owned without its proof. */
export const GRACE_MS = 7 * 86_400_000

/** Domain id → the value of its TXT record at `_postrider-verify.<domain>`. Each claim has its own value, so one
 *  claim's record never proves another. It is public, not a secret. */
export function ownershipValue(domainId: string): string {
  const digest = createHash('sha256').update(`postrider-verify ${domainId}`).digest('hex')
  return `postrider-verify=${digest.slice(0, 32)}`
}

/** The name of that record. */
export function ownershipName(name: string): string {
  return `_postrider-verify.${name}`
}

/** Domain and current DNS results (ms UTC) → its ownership. Proved ownership lasts for GRACE_MS after the proof was
 *  first missing, and ends only at a check that still finds none. A domain with its TXT record but without its DKIM
 *  records keeps the name but may not send. Never throws. */
export function ownershipAfter(domain: Domain, look: Look, now: number): OwnershipState {
  if (look.dkim === 'seen') return proved('dkim')
  return domain.status === 'verified' ? ownedAfter(domain, look, now) : claimAfter(domain, look)
}

function ownedAfter(domain: Domain, { dkim, txt }: Look, now: number): OwnershipState {
  const { status, provedBy, missingSince, reason } = domain
  const unchanged = { status, provedBy, missingSince, reason }
  if (provedBy === 'txt' && txt === 'seen') return proved('txt')
  const isUncertain = dkim === 'unknown' || (provedBy === 'txt' && txt === 'unknown')
  if (isUncertain) return unchanged
  const since = missingSince ?? now
  if (now - since < GRACE_MS) return { ...unchanged, missingSince: since }
  if (provedBy === 'txt') return { status: 'failed', provedBy: null, missingSince: since, reason: 'proof_lost' }
  if (txt === 'seen') return proved('txt')
  if (txt === 'unknown') return unchanged
  // The TXT record was present until now and starts its own seven days.
  if (wasTxtSeen(domain)) return { ...proved('txt'), missingSince: now }
  return { status: 'failed', provedBy: null, missingSince: since, reason: 'proof_lost' }
}

function claimAfter({ status, verifiedAt, missingSince, reason }: Domain, look: Look): OwnershipState {
  if (look.txt === 'seen') return proved('txt')
  if (look.dkim === 'unknown' || look.txt === 'unknown') return { status, provedBy: null, missingSince, reason }
  if (verifiedAt !== null) return { status: 'failed', provedBy: null, missingSince, reason: reason ?? 'proof_lost' }
  if (look.isMismatch) return { status: 'failed', provedBy: null, missingSince: null, reason: 'mismatch' }
  return { status: 'pending', provedBy: null, missingSince: null, reason: null }
}

function proved(provedBy: Proof): OwnershipState {
  return { status: 'verified', provedBy, missingSince: null, reason: null }
}

function wasTxtSeen({ findings }: Domain): boolean {
  return findings.some(({ purpose, status }) => purpose === 'ownership' && status === 'valid')
}

/** When maintenance checks next (ms UTC), null for never: daily for an owned name, hourly while its proof is missing or
 *  DNS gives no answer, every six hours for a lost name, every five minutes for a week after setup. */
export function nextLookAt(
  domain: Pick<Domain, 'id' | 'createdAt' | 'dkim'>,
  after: OwnershipState & { isUncertain: boolean },
  now: number,
): number | null {
  const { status, reason, missingSince, isUncertain } = after
  const changedAt = Math.max(domain.createdAt, ...domain.dkim.map((key) => key.createdAt))
  const isWaiting = status !== 'verified' || domain.dkim.some((key) => key.state === 'pending')
  if (isWaiting && reason !== 'claimed' && now - changedAt <= SET_UP_MS) return now + 5 * MINUTE_MS
  if (status === 'verified') {
    const isFine = missingSince === null && !isUncertain
    return now + (isFine ? spread(domain.id, 20 * HOUR_MS, 24 * HOUR_MS) : spread(domain.id, 50 * MINUTE_MS, HOUR_MS))
  }
  return reason === 'proof_lost' ? now + spread(domain.id, 5 * HOUR_MS, 6 * HOUR_MS) : null
}

/** Spreads domains that were checked together. */
function spread(id: string, fromMs: number, toMs: number): number {
  const part = createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32
  return Math.round(fromMs + part * (toMs - fromMs))
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** An unfinished setup is checked for this long after the domain was added or its keys were rotated; later on request
 *  only. */
const SET_UP_MS = 7 * 86_400_000

/** The state as a sentence; null when there is nothing to report. */
export function ownershipDetail(
  domain: Pick<Domain, 'status' | 'provedBy' | 'missingSince' | 'reason'>,
): string | null {
  const { status, provedBy, missingSince, reason } = domain
  const at = (ms: number) => new Date(ms).toISOString()
  if (status === 'verified' && missingSince !== null) {
    const record = provedBy === 'dkim' ? 'A DKIM record has been' : 'The ownership record has been'
    return `${record} missing from DNS since ${at(missingSince)}. Publish it before ${at(missingSince + GRACE_MS)}, or the domain fails.`
  }
  if (status === 'verified' && provedBy === 'txt') {
    return 'The ownership record proves that you own this domain. To send live mail, publish the DKIM records too.'
  }
  return status === 'failed' && reason !== null ? DETAILS[reason] : null
}

const DETAILS: Record<FailureReason, string> = {
  mismatch: 'A DKIM record in DNS differs from the one shown here.',
  proof_lost: 'DNS had no proof of ownership for seven days. Publish the DKIM records or the ownership record again.',
  claimed: 'Another organization has verified this domain or a host under it.',
}
