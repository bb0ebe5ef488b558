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
  /** This process claims nothing more; other nodes take what waits. Resolves when the database says so to the others. */
  leave(): Promise<void>
  /** Why requests should go to another node; null if they need not. */
  whyNotReady(): string | null
}
