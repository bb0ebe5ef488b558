import type { DomainStatus, FailureReason, Proof } from '../model/domain.ts'
import type { DomainCheck } from './store.ts'

/** What a check changes of a domain. */
export interface DomainState {
  status: DomainStatus
  provedBy: Proof | null
  missingSince: number | null
  reason: FailureReason | null
  nextCheckAt: number | null
}

/** Another organization owns the name. */
export const CLAIMED: DomainState = {
  status: 'failed',
  provedBy: null,
  missingSince: null,
  reason: 'claimed',
  nextCheckAt: null,
}

/** Check, and when the next one was due → the state of a domain whose name nobody else owns. */
export function stateOf(
  { status, provedBy, missingSince, reason, nextCheckAt }: DomainCheck,
  before: number | null,
): DomainState {
  return {
    status,
    provedBy: provedBy === undefined ? (status === 'verified' ? 'dkim' : null) : provedBy,
    missingSince: missingSince ?? null,
    reason: reason ?? null,
    nextCheckAt: nextCheckAt === undefined ? before : nextCheckAt,
  }
}
