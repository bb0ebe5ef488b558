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
