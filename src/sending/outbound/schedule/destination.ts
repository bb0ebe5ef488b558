import { destinationOfHost } from '../../../net/destination-host.ts'
import type { Lookup, MxRecord } from '../../../net/dns/resolver.ts'
import type { Sender } from '../senders/senders.ts'

/** Mail domain (A-label, or an address literal in brackets) and its MX lookup → the destination whose limits apply:
 *  the registrable domain of the best MX host, so that all domains of one provider share it. Of equally preferred
 *  hosts the first by name counts, so that every lookup gives the same result. Without MX it is that of the domain,
 *  and while DNS fails the domain itself. Never throws. */
export function destinationFor(domain: string, mx: Lookup<MxRecord> | null): string {
  if (mx?.kind === 'temporary') return domain
  if (mx?.kind !== 'records') return destinationOfHost(domain)
  const [best] = mx.records
    .map(({ preference, exchange }) => ({ preference, host: exchange.replace(/\.$/, '') }))
    .filter(({ host }) => host !== '')
    .sort((a, b) => a.preference - b.preference || (a.host < b.host ? -1 : 1))
  return destinationOfHost(best?.host ?? domain)
}

/** What limits and reputation count for: a destination, or where sending addresses are configured, a destination and the
 *  address that mail is sent from. Without them the key is the destination itself. */
export function limitKey(destination: string, sender: Sender | null): string {
  return sender === null ? destination : `${destination} ${sender[0].address}`
}

/** No destination contains a space. */
export function destinationIn(key: string): string {
  const at = key.indexOf(' ')
  return at < 0 ? key : key.slice(0, at)
}

/** Null: the system chooses the address. */
export function addressIn(key: string): string | null {
  const at = key.indexOf(' ')
  return at < 0 ? null : key.slice(at + 1)
}
