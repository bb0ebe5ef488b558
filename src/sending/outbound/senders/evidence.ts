import type { WarmupKey } from '../../../model/warmup.ts'
import { destinationOfHost } from '../../../net/destination-host.ts'
import type { Tried } from '../record.ts'
import type { Ending, Grant } from '../schedule/admission.ts'
import { SYSTEM_ADDRESS } from './rests.ts'
import type { WarmupResult } from './warmups.ts'

/** The configured address of an attempt; undefined if the system chose it, or nothing was connected. */
export function sourceOf({ attempt, blockedSource }: Tried, { sender }: Grant): string | undefined {
  return sender === null ? undefined : (attempt.sourceAddress ?? blockedSource)
}

/** What the attempt of a counted mail means for the warm-up. A mail that left from an address of the other family, or for
 *  which nothing was connected, was not sent from the counted one. Only the destination's own hosts are evidence. */
export function warmupResult(
  { outcome, attempt, blockedSource }: Tried,
  { address }: WarmupKey,
  { route }: Grant,
): WarmupResult {
  const { mxHost, sourceAddress, reply } = attempt
  if (outcome.kind === 'unknown') return 'other'
  if (sourceAddress === null || sourceAddress.includes(':') !== address.includes(':')) return 'unused'
  if (mxHost === null || destinationOfHost(mxHost) !== route.destination) return 'other'
  if (outcome.kind === 'delivered') return 'delivered'
  if (blockedSource !== undefined) return 'blocked'
  return outcome.kind === 'deferred' && !outcome.aboutRecipient && reply !== null ? 'deferred' : 'other'
}

/** What a host of the destination showed about the address that the mail was sent from. Hosts elsewhere, such as a second
 *  MX host that a domain has beside those of its provider, say nothing about the destination. */
export function addressFacts({ outcome, attempt, blockedSource }: Tried, grant: Grant): Ending['address'] {
  const { sender, relay, failOver, route } = grant
  const { mxHost } = attempt
  if (relay !== null || (sender === null && failOver === null)) return undefined
  if (mxHost === null || destinationOfHost(mxHost) !== route.destination) return undefined
  if (outcome.kind !== 'delivered') {
    return blockedSource === undefined ? undefined : { source: blockedSource, blockedBy: outcome.cause.rule }
  }
  const sourceAddress = sender === null ? SYSTEM_ADDRESS : attempt.sourceAddress
  return sourceAddress === null ? undefined : { source: sourceAddress, blockedBy: null }
}
