import type { Resolver } from '../../net/dns/resolver.ts'
import type { ReaderSeparation } from './separation.ts'

/** The installation, as far as the checks need it. */
export interface Installation {
  hostname: string
  dataDir: string
  /** Bytes to keep free on its disk. */
  minFreeBytes: number
  /** Configured memory limit; 0: the limit of the kernel. */
  memoryBytes: number
  /** Largest accepted message. */
  messageBytes: number
  listeners: readonly Listener[]
  /** True if it uses PostgreSQL, which several nodes share. */
  isShared: boolean
  /** The fixed local address for outgoing mail. */
  sourceAddress: string | null
  /** Configured addresses of this node that mail is sent from; [] = none, the system or sourceAddress decides. */
  sendingAddresses: readonly { address: string; hostname: string }[]
  /** All configured addresses that belong to one node. */
  addressesOfNodes: readonly { address: string; node: string }[]
  /** Null: mail goes to each domain's MX. */
  smarthost: { host: string; port: number } | null
  /** Relays of [[relays]]. */
  relays: readonly { name: string; host: string; port: number }[]
  domains: readonly SendingDomain[]
  /** The zone delegated to this server and the names of its servers; null if none. */
  delegated: { zone: string; nameServers: readonly string[] } | null
  /** The server running on this data directory, if any. */
  server: Server | null
  /** The operator's own certificates for TLS. */
  certificateFiles: readonly string[]
  /** State of the ACME certificate; null if none is requested. */
  authority: AuthorityCertificate | null
}

export interface AuthorityCertificate {
  /** Names it should contain. */
  names: readonly string[]
  /** Null if there is none yet. */
  held: { names: readonly string[]; startsAt: number; endsAt: number } | null
  /** Why the last attempt failed, or why there was none; null if all is well. */
  trouble: string | null
}

export interface Server {
  pid: number
  /** Ports of its listeners. */
  ports: readonly number[]
}

/** A configured listener and its key. */
export interface Listener {
  key: string
  host: string
  port: number
}

export interface SendingDomain {
  name: string
  returnPathHost: string
}

/** Access of the checks to the machine and the network; tests use loopback and temporary directories. */
export interface CheckDeps {
  /** ms UTC. In a server on PostgreSQL, it follows the clock of the database. */
  now: () => number
  /** Clock of this machine, ms UTC. */
  machineNow: () => number
  /** Without a cache, with short timeouts. */
  resolver: Resolver
  /** Whether the SPF record at a host passes mail of the sender; `unknown` if DNS gave no answer. */
  spfAllows: (
    record: string,
    host: string,
    sender: { hostname: string; addresses: string[] | null; isOnly?: boolean },
  ) => Promise<'yes' | 'no' | 'unknown'>
  /** Name servers in use, `ip:port`. */
  nameServers: readonly string[]
  /** True if DNSSEC results of this name server are trusted. */
  isTrusted: (ip: string) => boolean
  /** True if the resolver validates DNSSEC, trusted or not. */
  validates: () => Promise<boolean>
  /** Addresses of the machine's network interfaces, without loopback and link-local ones. */
  ownAddresses: () => string[]
  /** True if the address may be connected to. */
  mayConnect: (ip: string) => boolean
  /** Connects to a mail server on port 25, or the configured port, and sends EHLO. */
  greet: (host: string, address: string) => Promise<Greeting>
  /** The same for a relay, with TLS and login. `smarthost` is the name of delivery.smarthost. */
  greetRelay: (name: string) => Promise<Greeting>
  /** The OpenID Connect provider; null without one. `look` reads its settings and resolves with the problem, or null. */
  provider: { issuer: string; redirectUri: string; look: () => Promise<string | null> } | null
  /** Direct questions to name servers about the delegated zone. */
  delegation: {
    /** The names to which the parent delegates the zone, [] for none; null without an answer. */
    namesAtParent: (zone: string) => Promise<readonly string[] | null>
    /** The primary name server in the SOA record that the address answers with; null without an answer. */
    primaryAt: (address: string, zone: string, transport: 'udp' | 'tcp') => Promise<string | null>
  }
  /** Time server address → ms by which our clock is ahead; null without a response. */
  askTime: (address: string) => Promise<number | null>
  /** Listening processes, read once. */
  held: readonly HeldPort[]
  /** Kernel file systems: `/proc` and `/sys`. */
  proc: string
  sys: string
  /** Directories of systemd units. */
  units: readonly string[]
  /** Starts a reader process for inbound mail, lets it try to break out, and ends it. */
  readerSeparation: () => Promise<ReaderSeparation>
  /** False: no connections to other machines. */
  looksOutside: boolean
}

export interface Greeting {
  /** True if the connection was established. */
  isReached: boolean
  /** Why it would reject our mail; null if it would not. */
  problem: string | null
  /** Where it failed: `connect`, `starttls`, `login` …; null if unknown, or if it did not. */
  stage?: string | null
  /** TLS version, and whether the certificate was verified; null without TLS. */
  tls?: string | null
  /** Its reply. */
  words: string
  durationMs: number
}

/** A TCP port in use. */
export interface HeldPort {
  host: string
  port: number
  /** Null if only root can see it. */
  holder: { pid: number; name: string } | null
}
