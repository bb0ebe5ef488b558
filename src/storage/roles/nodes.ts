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
  /** Attempts under way at its last beat. */
  underWay: number
  /** It drains, and has no attempt in progress any more. */
  isHandedOver: boolean
  endedAt: number | null
  /** Keyed digests of the settings that all nodes must have and that differ from their default, by dotted path; null: it
   *  published none. */
  settings: Readonly<Record<string, string>> | null
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
  /** How far the events that clients can read are behind: the age of the oldest transaction that writes; 0 = none does, null
   *  with SQLite. */
  feedBehindMs(): Promise<number | null>
  /** This node among those that send mail. */
  share(): NodeShare
  /** Name for what the mail of a queue (Delivery.queue) waits for, if only other nodes have the addresses that it is sent from,
   *  and one of them runs; null: this node sends it. */
  elsewhere(queue: string): string | null
  /** This process claims nothing more; other nodes take what waits. Resolves when the database says so to the others. */
  leave(): Promise<void>
  /** The groups of Placement.groupOf have changed. */
  placementChanged(): void
  /** Why requests should go to another node; null if they need not. */
  whyNotReady(): string | null
  /** Settings by dotted path → what this node would publish of them; {} with SQLite. */
  digestsOf(settings: ReadonlyMap<string, string>): Record<string, string>
}

/** A node among those that send mail. The object is another one when a node joined or left, or addresses moved. */
export interface NodeShare {
  /** How many there are, with this one: those that run, and do not drain or still have attempts in progress. */
  nodes: number
  /** From 0, in the order that all nodes have. */
  place: number
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
  wroteGroup(lane: 'mail' | 'records' | 'settings', ms: number, changes: number): void
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

/** What only one process of an installation does at a time. A lease ends after its time, or when its process is ended;
 *  a process that stood still may continue for a moment beside its successor, so what it does must be harmless twice. */
export interface Leases {
  /** True while this process does the periodic work of the whole installation. */
  leads(): boolean
  /** Takes a lease for `forMs`, or extends it → false if another process has it. */
  take(name: string, forMs: number): Promise<boolean>
  /** Ends a lease of this process. */
  release(name: string): Promise<void>
}

/** The processes that deliver. Each has an id of its own at every start and holds what it claims until it records a result. */
export interface Workers {
  /** Workers that hold claims and run no longer; `self` is never one of them. Their leases may be ended. */
  ended(self: string): Promise<string[]>
}

/** Requests of a key in its current window. */
export interface RateWindow {
  /** Of the key. */
  id: string
  /** ms UTC. Nodes with different ends agree on the earliest. */
  endsAt: number
  used: number
}

/** At most `burst` at once, and one more every `everyMs` (GCRA, ITU-T I.371). */
export interface RateRule {
  name: string
  everyMs: number
  burst: number
}

/** Rates that all processes of an installation share. They may be forgotten when the database crashes. */
export interface Rates {
  /** Stores what this process counted → what the others have counted of the same keys, in windows of any end. */
  exchange(windows: readonly RateWindow[]): Promise<RateWindow[]>
  /** Counts one for each rule if all of them allow it → 0, else the ms to wait. `now` is in ms. */
  take(rules: readonly RateRule[], now: number): Promise<number>
}

/** The certificate from an authority, which all nodes present, and their answers to its challenges. */
export interface SharedCertificates {
  /** What is stored, if its version is another one than `known`; null if it is the same. 0 is the version before the
   *  first change. */
  changed(known: number): Promise<StoredTexts | null>
  /** Replaces one of the texts. The certificate, which contains its private key, is stored encrypted. */
  keep(part: 'certificate' | 'progress', text: string): Promise<void>
  /** Stores the answer to a challenge until `hide`, or for `forMs`. */
  show(token: string, answer: string, forMs: number): Promise<void>
  hide(token: string): Promise<void>
  /** The answer to a challenge; null if there is none. */
  shown(token: string): Promise<string | null>
}

export interface StoredTexts {
  version: number
  /** PEM of the key and the chain; null = none yet. */
  certificate: string | null
  progress: string | null
}
