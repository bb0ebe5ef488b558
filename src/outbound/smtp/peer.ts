import type { TlsaRecord } from '../../net/dns/resolver.ts'
import type { WorkerSettings } from '../job.ts'
import { tlsaKey } from '../tls/dane.ts'

/** One server to talk to, and what the connection to it must prove. */
export interface Peer {
  /** Name of the MX or smarthost: for SNI, for the certificate, for people. An address literal names itself. */
  host: string
  address: string
  port: number
  /** `implicit`: from the first byte. `starttls`: when offered. `never`: in clear. */
  tls: 'implicit' | 'starttls' | 'never'
  /** What TLS must have reached before a mail or a password is spoken; with `none` it is tried all the same. */
  demand: Demand
  /** What proves the server in place of the public authorities (DANE); goes with `verified`. */
  tlsa?: readonly TlsaRecord[]
  login: { user: string; password: string } | null
}

export type Demand = 'none' | 'encrypted' | 'verified'

/** Peer → the key under which its connections are kept: two mails may share one exactly when these agree. */
export function peerKey(peer: Peer): string {
  const proof = peer.tlsa === undefined ? '' : tlsaKey(peer.tlsa)
  return `${peer.host} ${peer.address} ${peer.port} ${peer.tls} ${peer.demand}${proof} ${peer.login?.user ?? ''}`
}

/** For people: `mx.example [192.0.2.1]:25`. */
export function peerName(peer: Peer): string {
  return peer.host === peer.address ? `[${peer.address}]:${peer.port}` : `${peer.host} [${peer.address}]:${peer.port}`
}

/** Host, address, what its connection must prove and the operator's settings → Peer. With a smarthost every mail goes to
 *  it, its login demands proof of who it is, and its pins are the proof where there are some; without one the port is the delivery port and TLS is taken when offered. */
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

/** Address families that can be reached: both, or that of the fixed source address. IPv4 comes first: reputation is
 *  better known there. */
export function familiesOf({ sourceAddress }: PeerSettings): (4 | 6)[] {
  if (sourceAddress === null) return [4, 6]
  return sourceAddress.includes(':') ? [6] : [4]
}

type PeerSettings = Pick<WorkerSettings, 'smarthost' | 'smarthostPins' | 'deliveryPort' | 'sourceAddress'>

/** Where a password may be sent: on this machine even in clear, anywhere else only to a server that has proven its name. A
 *  private address proves nothing: whoever can answer for it there would get the password. */
function demandForPassword(address: string): Peer['demand'] {
  return address === '::1' || address.startsWith('127.') ? 'none' : 'verified'
}

/** SHA-256 fingerprints (hex) of certificates or of their public keys → TLSA records that say the same: names and dates do not
 *  count then. RFC 7671 §5.1 */
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
