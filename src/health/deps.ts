import type { Resolver } from '../net/dns/resolver.ts'
import type { ReaderSeparation } from './separation.ts'

/** What is set up, as far as the checks care. */
export interface Installation {
  hostname: string
  dataDir: string
  /** Bytes to keep free on its disk. */
  minFreeBytes: number
  /** What the process may have in memory by the config; 0: what the kernel grants. */
  memoryBytes: number
  /** Of the largest mail that is taken. */
  messageBytes: number
  listeners: readonly Listener[]
  /** The local address that mail leaves from, where it is fixed. */
  sourceAddress: string | null
  /** Null: mail goes to each domain's MX. */
  smarthost: { host: string; port: number } | null
  domains: readonly SendingDomain[]
  /** The server that runs on this data directory, if one does. */
  server: Server | null
  /** Certificates of the operator's that are shown in TLS. */
  certificateFiles: readonly string[]
  /** What is kept of an authority's certificate; null where none is asked. */
  authority: AuthorityCertificate | null
}

export interface AuthorityCertificate {
  /** Those it should have. */
  names: readonly string[]
  /** Null while there is none. */
  held: { names: readonly string[]; endsAt: number } | null
  /** Why the last attempt came to nothing, or none is made; null when all is well. */
  trouble: string | null
}

export interface Server {
  pid: number
  /** That its listeners have. */
  ports: readonly number[]
}

/** A listener the config asks for, by its key. */
export interface Listener {
  key: string
  host: string
  port: number
}

export interface SendingDomain {
  name: string
  returnPathHost: string
}

/** What the checks see of the machine and of what is around it: the real thing, or loopback and folders of a test. */
export interface CheckDeps {
  /** ms UTC. */
  now: () => number
  /** Remembers nothing, and is not patient. */
  resolver: Resolver
  /** Name servers that are asked, `ip:port`. */
  nameServers: readonly string[]
  /** Whether a name server's word on DNSSEC is taken. */
  isTrusted: (ip: string) => boolean
  /** Asks whether a resolver validates DNSSEC, whoever it is. */
  validates: () => Promise<boolean>
  /** Addresses of the machine's network interfaces, without loopback and link-local ones. */
  ownAddresses: () => string[]
  /** Which addresses of the world may be connected to. */
  mayConnect: (ip: string) => boolean
  /** Calls a mail server at its port 25, or whatever port the config has in its place, and says who we are. */
  greet: (host: string, address: string) => Promise<Greeting>
  /** The same at the smarthost, with TLS and login; null without one. */
  greetSmarthost: (() => Promise<Greeting>) | null
  /** Address of a time server → by how many ms our clock is ahead; null when it says nothing. */
  askTime: (address: string) => Promise<number | null>
  /** Who listens on what, read once. */
  held: readonly HeldPort[]
  /** Folders of the kernel: `/proc` and `/sys`. */
  proc: string
  sys: string
  /** Where a unit of systemd may stand. */
  units: readonly string[]
  /** Starts a reader of inbound mail, lets it try to break out, and ends it. */
  readerSeparation: () => Promise<ReaderSeparation>
  /** False: nobody but this machine is asked. */
  looksOutside: boolean
}

export interface Greeting {
  /** The connection stood, whatever became of it. */
  isReached: boolean
  /** Why it would take no mail from us; null when all is well. */
  problem: string | null
  /** What it said. */
  words: string
  durationMs: number
}

/** A TCP port that some process listens on. */
export interface HeldPort {
  host: string
  port: number
  /** Null when only root could tell. */
  holder: { pid: number; name: string } | null
}
