import type { TlsaRecord } from '../../../net/dns/resolver.ts'
import type { WorkerSettings } from '../job.ts'
import type { Relay } from '../relays/relay.ts'
import type { SendingAddress } from '../senders/pools.ts'
import { tlsaKey } from '../tls/dane.ts'

/** A server to connect to, and what the connection must prove. */
export interface Peer {
  /** Name of the MX host or relay: for SNI, the certificate and messages. An address literal is its own name. */
  host: string
  address: string
  port: number
  /** `implicit`: from the first byte. `starttls`: if offered. `never`: no TLS. */
  tls: 'implicit' | 'starttls' | 'never'
  /** What TLS must prove before a mail or password is sent; with `none`, TLS is still tried. */
  demand: Demand
  /** Verifies the server in place of the public authorities (DANE); used with `verified`. */
  tlsa?: readonly TlsaRecord[]
  login: { user: string; password: string } | null
  /** Name of the relay that this is; absent: a host of the recipient's domain. */
  relay?: string
  /** Our address, and our name in EHLO, on this connection; by default those of the session's options. */
  source?: SendingAddress
}

export type Demand = 'none' | 'encrypted' | 'verified'

/** Peer → key of its kept connections: two mails may share a connection only if these values agree. */
export function peerKey(peer: Peer): string {
  const proof = peer.tlsa === undefined ? '' : tlsaKey(peer.tlsa)
  const key = `${peer.host} ${peer.address} ${peer.port} ${peer.tls} ${peer.demand}${proof} ${peer.login?.user ?? ''}`
  return peer.source === undefined ? key : `${key} ${peer.source.address} ${peer.source.hostname}`
}

/** For messages: `mx.example [192.0.2.1]:25`. */
export function peerName(peer: Peer): string {
  return peer.host === peer.address ? `[${peer.address}]:${peer.port}` : `${peer.host} [${peer.address}]:${peer.port}`
}

/** Host, address, required proof and port → Peer; TLS is used if offered. */
export function peerOf(host: string, address: string, proof: Pick<Peer, 'demand' | 'tlsa'>, port: number): Peer {
  return { host, address, port, tls: 'starttls', ...proof, login: null }
}

/** A relay, its address and required proof → Peer. Its login requires a verified server, by its pins if there are any. */
export function relayPeer(
  relay: Omit<Relay, 'destination' | 'maxConnections' | 'maxMailsPerMinute'>,
  address: string,
  proof: Pick<Peer, 'demand' | 'tlsa'>,
): Peer {
  const { name, host, port, tls, login, pins } = relay
  return {
    host,
    address,
    port,
    tls,
    ...(pins.length > 0
      ? { demand: 'verified', tlsa: pinned(pins) }
      : { ...proof, demand: proof.demand === 'none' ? demandOf(relay, address) : proof.demand }),
    login,
    relay: name,
  }
}

/** Reachable address families: both, or those of the addresses that mail is sent from. IPv4 first, because its
 *  reputation is better established. */
export function familiesOf(
  { sourceAddress }: Pick<WorkerSettings, 'sourceAddress'>,
  sender: readonly SendingAddress[] = [],
): (4 | 6)[] {
  const own = sender.length > 0 ? sender.map(({ address }) => address) : sourceAddress === null ? [] : [sourceAddress]
  if (own.length === 0) return [4, 6]
  return ([4, 6] as const).filter((family) => own.some((address) => address.includes(':') === (family === 6)))
}

/** The address of the same family as the server's; undefined if there is none. */
export function sourceFor(address: string, sender: readonly SendingAddress[] = []): SendingAddress | undefined {
  return sender.find((each) => each.address.includes(':') === address.includes(':'))
}

/** Where a password may be sent: on this machine without verification, elsewhere only to a verified server. A private
 *  address proves nothing: anyone who can answer for it there would receive the password. */
function demandOf({ login, isTlsRequired }: Pick<Relay, 'login' | 'isTlsRequired'>, address: string): Demand {
  const isHere = address === '::1' || address.startsWith('127.')
  if (login !== null && !isHere) return 'verified'
  return isTlsRequired ? 'encrypted' : 'none'
}

/** SHA-256 fingerprints (hex) of certificates or public keys → equivalent TLSA records, for which names and dates do
 *  not count. RFC 7671 §5.1 */
function pinned(fingerprints: readonly string[]): TlsaRecord[] {
  return fingerprints.flatMap((fingerprint) =>
    [WHOLE, PUBLIC_KEY].map((selector) => ({
      usage: DANE_EE,
      selector,
      matchingType: SHA_256,
      certificate: new Uint8Array(Buffer.from(fingerprint, 'hex')),
    })),
  )
}

const DANE_EE = 3
const [WHOLE, PUBLIC_KEY] = [0, 1]
const SHA_256 = 1
