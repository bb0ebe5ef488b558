import { isPublicUnicast } from '../platform/ip.ts'
import type { WorkerSettings } from './job.ts'

/** One server to talk to, and what the connection to it must prove. */
export interface Peer {
  /** Name of the MX or smarthost: for SNI, for the certificate, for people. An address literal names itself. */
  host: string
  address: string
  port: number
  /** `implicit`: from the first byte. `starttls`: when offered. `never`: in clear. */
  tls: 'implicit' | 'starttls' | 'never'
  /** What TLS must have reached before a mail or a password is spoken; with `none` it is tried all the same. */
  demand: 'none' | 'encrypted' | 'verified'
  login: { user: string; password: string } | null
}

/** Peer → the key under which its connections are kept: two mails may share one exactly when these agree. */
export function peerKey(peer: Peer): string {
  return `${peer.host} ${peer.address} ${peer.port} ${peer.tls} ${peer.demand} ${peer.login?.user ?? ''}`
}

/** For people: `mx.example [192.0.2.1]:25`. */
export function peerName(peer: Peer): string {
  return peer.host === peer.address ? `[${peer.address}]:${peer.port}` : `${peer.host} [${peer.address}]:${peer.port}`
}

/** Host, address and the operator's settings → Peer. With a smarthost every mail goes to it; without one the port is the
 *  delivery port and TLS is taken when offered, and demanded with proof when the message requires it. */
export function peerOf(host: string, address: string, requireTls: boolean, settings: PeerSettings): Peer {
  const { smarthost } = settings
  if (smarthost === null) {
    const demand = requireTls ? 'verified' : 'none'
    return { host, address, port: settings.deliveryPort, tls: 'starttls', demand, login: null }
  }
  const { user, password } = smarthost
  const login = user === null || password === null ? null : { user, password }
  return {
    host,
    address,
    port: smarthost.port,
    tls: smarthost.implicitTls ? 'implicit' : 'starttls',
    demand: requireTls ? 'verified' : login === null ? 'none' : demandForPassword(address),
    login,
  }
}

/** Address families that can be reached: both, or that of the fixed source address. IPv4 comes first: reputation is
 *  better known there. */
export function familiesOf({ sourceAddress }: PeerSettings): (4 | 6)[] {
  if (sourceAddress === null) return [4, 6]
  return sourceAddress.includes(':') ? [6] : [4]
}

type PeerSettings = Pick<WorkerSettings, 'smarthost' | 'deliveryPort' | 'sourceAddress'>

/** Where a password may be spoken: on this machine even in clear, in the operator's own network encrypted (inner
 *  servers seldom have a certificate that anybody could verify), beyond only to a server that has proven its name. */
function demandForPassword(address: string): Peer['demand'] {
  if (address === '::1' || address.startsWith('127.')) return 'none'
  return isPublicUnicast(address) ? 'verified' : 'encrypted'
}
