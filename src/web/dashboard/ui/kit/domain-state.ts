import type { Json } from './api.ts'
import type { Tone } from './status.tsx'

/** What a domain may do now, for lists, its page and the overview. */
export interface DomainState {
  /** `Ready`, `Sending`, `Receives only`, `Can’t send`: the text of its chip. */
  word: string
  tone: Tone
  /** What to do about it: `2 of 4 required records to fix`; '' if there is nothing to do. */
  reason: string
}

/** A domain of the API → its state. It follows from whether the server sends live mail from it now, never from ownership
 *  alone: a domain that proved its ownership by the TXT record receives mail, but does not send. */
export function domainState(domain: Json): DomainState {
  const { sends_live, status, proved_by, proof_missing_since } = domain
  const reason = toFix(domain)
  if (!sends_live) {
    if (proved_by === 'txt' && isWithoutDkim(domain)) return { word: 'Receives only', tone: 'calm', reason }
    const tone = status === 'pending' ? 'warn' : 'bad'
    return { word: 'Can’t send', tone, reason: reason || 'Check DNS to verify it' }
  }
  if (proof_missing_since !== null)
    return { word: 'Sending', tone: 'warn', reason: reason || 'Proof of ownership is missing' }
  return reason === '' ? { word: 'Ready', tone: 'good', reason } : { word: 'Sending', tone: 'warn', reason }
}

/** The records that a domain needs to send, and those of them that are missing or wrong. */
export function requiredRecords({ dns_records }: Json): { all: Json[]; wrong: Json[] } {
  const all = dns_records.filter(({ required }: Json) => required)
  return { all, wrong: all.filter(({ status }: Json) => status !== 'valid') }
}

function toFix(domain: Json): string {
  const { all, wrong } = requiredRecords(domain)
  return wrong.length === 0 ? '' : `${wrong.length} of ${all.length} required records to fix`
}

/** True if DNS has no DKIM record at all: its owner did not begin to set up sending. */
const isWithoutDkim = ({ dns_records }: Json) =>
  dns_records.every(({ purpose, found }: Json) => purpose !== 'dkim' || found.length === 0)
