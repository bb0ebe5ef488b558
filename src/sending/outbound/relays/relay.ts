/** A server that mail is sent through, in place of the hosts of the recipient's domain; plain data. */
export interface Relay {
  name: string
  host: string
  port: number
  /** As Peer.tls. */
  tls: 'implicit' | 'starttls' | 'never'
  /** False: a server that does not offer STARTTLS gets mail in clear, but no password unless it is on this machine. */
  isTlsRequired: boolean
  login: { user: string; password: string } | null
  /** SHA-256 in hex of accepted certificates or public keys; without any, public authorities decide. */
  pins: readonly string[]
  /** Name of its limits (schedule/destination.ts). */
  destination: string
  /** 0: no limit of its own. */
  maxConnections: number
  maxMailsPerMinute: number
}

/** Name of a relay → the name of its limits. No destination of mail contains a colon and these letters before it. */
export const relayDestination = (name: string) => `relay:${name}`

/** Passwords of relays. */
export interface RelayLogins {
  /** Increases with each change of a password. */
  version(): number
  /** Reads the passwords again. */
  refresh(): void
}
