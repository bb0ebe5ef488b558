/** A process that serves this installation and handles mail. Times are ms UTC by the clock of the database. */
export interface NodeRecord {
  id: number
  name: string
  /** Public hostname of its machine. */
  hostname: string
  version: string
  /** Identifies the key that encrypts its secrets, without revealing it. */
  keyName: string
  startedAt: number
  /** Its last beat. */
  seenAt: number
  /** `active` handles mail; `draining` hands over or has handed over; `silent` had no beat for 2 s; `ended` has stopped,
   *  or other nodes ended it. */
  state: 'active' | 'draining' | 'silent' | 'ended'
  /** How many of the 256 slots are its own. */
  slots: number
  /** Attempts under way at its last beat. */
  underWay: number
  endedAt: number | null
}

/** The nodes of an installation. An SQLite installation has none: its server is the only process that handles mail. */
export interface Nodes {
  /** By name. Of a name that runs, ended nodes are left out; of another one, all but the last. */
  list(): Promise<NodeRecord[]>
  /** Tells the running nodes of that name to claim nothing more, so that others take over. They continue to serve
   *  requests. `unchanged`: all of them drain already; `unknown`: none runs. */
  drain(name: string): Promise<'draining' | 'unchanged' | 'unknown'>
  /** Takes ended nodes of that name off the list. `running`: a node of that name has not ended, nothing changed. */
  forget(name: string): Promise<'forgotten' | 'running' | 'unknown'>
  /** Facts about PostgreSQL; null with SQLite. `now`: ms UTC. */
  database(now: () => number): Promise<DatabaseFacts | null>
  /** Age of the oldest transaction in PostgreSQL that its user sees; null = none, and with SQLite. */
  oldestTransactionMs(): Promise<number | null>
  /** How far the events that every node has written are behind; null with SQLite. `now`: ms UTC. */
  feedBehindMs(now: number): number | null
  /** This process claims nothing more; other nodes take what waits. Resolves when the database says so to the others. */
  leave(): Promise<void>
  /** The groups of Placement.groupOf have changed: what waits for this node is read again. */
  placementChanged(): Promise<void>
  /** Why requests should go to another node; null if they need not. */
  whyNotReady(): string | null
}

/** Which nodes have the addresses that mail is sent from. */
export interface Placement {
  /** Names of nodes; their order is the same at all nodes. */
  groups: readonly (readonly string[])[]
  /** Index of the group that sends the mail of a queue; null: every node can. */
  groupOf(queue: string): number | null
}

/** Sees what a node writes to PostgreSQL. No method may throw. */
export interface NodeObserver {
  /** A group of changes was committed after `ms`. */
  wroteGroup(lane: 'mail' | 'settings' | 'contents', ms: number, changes: number): void
  /** This node ended others that were silent. */
  tookOver(nodes: number): void
}

/** Facts about the PostgreSQL server of an installation. */
export interface DatabaseFacts {
  /** `15.8`. */
  version: string
  encoding: string
  user: string
  /** True if `user` sees the activity of other users. */
  seesAll: boolean
  sizeBytes: number
  fsync: boolean
  fullPageWrites: boolean
  /** `on`, `off`, `local`, `remote_write` or `remote_apply`. */
  synchronousCommit: string
  /** Setting synchronous_standby_names; '' = no standby has to confirm a commit. */
  synchronousStandbys: string
  standbys: readonly { name: string | null; isSynchronous: boolean | null; lagMs: number | null }[]
  connections: number
  maxConnections: number
  maxWalBytes: number
  autovacuum: boolean
  /** Transactions since the oldest row that is not frozen; PostgreSQL stops at two billion. */
  frozenAge: number
  /** Age of the oldest open transaction, as far as `user` sees them; null = none. */
  oldestTransactionMs: number | null
  replicationSlots: readonly { name: string; isActive: boolean; keptBytes: number }[]
  /** Shortest of some round trips. */
  roundTripMs: number
  /** How far the clock of this machine is ahead of that of the database; negative = behind. */
  clockAheadMs: number
  /** True if a session keeps its connection to the server between transactions. */
  keepsSession: boolean
}
