import type { TlsaRecord } from '../../net/dns/resolver.ts'
import type { WorkerSettings } from '../job.ts'
import type { SendingAddress } from '../senders/pools.ts'
import { tlsaKey } from '../tls/dane.ts'

/** A server to connect to, and what the connection must prove. */
export interface Peer {
  /** Name of the MX host or smarthost: for SNI, the certificate and messages. An address literal is its own name. */
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
  /** Our address and name in EHLO on this connection; absent: as the session's options say. */
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

/** Host, address, required proof and settings → Peer. With a smarthost, all mail goes to it; its login requires a
 *  verified server, by its pins if there are any. Without one, the port is the delivery port and TLS is used if
 *  offered. */
export function peerOf(
  host: string,
  address: string,
  proof: Pick<Peer, 'demand' | 'tlsa'>,
  settings: PeerSettings,
): Peer {
  const { smarthost, smarthostPins = [] } = settings
  if (smarthost === null) {
    return { host, address, port: settings.deliveryPort, tls: 'starttls', ...proof, login: null }
  }
  const { user, password } = smarthost
  const login = user === null || password === null ? null : { user, password }
  return {
    host,
    address,
    port: smarthost.port,
    tls: smarthost.implicitTls ? 'implicit' : 'starttls',
    ...(smarthostPins.length > 0
      ? { demand: 'verified', tlsa: pinned(smarthostPins) }
      : { ...proof, demand: login === null || proof.demand !== 'none' ? proof.demand : demandForPassword(address) }),
    login,
  }
}

/** Reachable address families: both, or those of the addresses that mail is sent from. IPv4 first, because its
 *  reputation is better established. */
export function familiesOf({ sourceAddress }: PeerSettings, sender: readonly SendingAddress[] = []): (4 | 6)[] {
  const own = sender.length > 0 ? sender.map(({ address }) => address) : sourceAddress === null ? [] : [sourceAddress]
  if (own.length === 0) return [4, 6]
  return ([4, 6] as const).filter((family) => own.some((address) => address.includes(':') === (family === 6)))
}

/** The address of the same family as the server's; undefined if there is none. */
export function sourceFor(address: string, sender: readonly SendingAddress[] = []): SendingAddress | undefined {
  return sender.find((each) => each.address.includes(':') === address.includes(':'))
}

type PeerSettings = Pick<WorkerSettings, 'smarthost' | 'smarthostPins' | 'deliveryPort' | 'sourceAddress'>

/** Where a password may be sent: on this machine even without TLS, elsewhere only to a verified server. A private
 *  address proves nothing: anyone who can answer for it there would receive the password. */
function demandForPassword(address: string): Peer['demand'] {
  return address === '::1' || address.startsWith('127.') ? 'none' : 'verified'
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
