/** The processes that deliver. Each has an id of its own at every start and holds what it claims until it records a result. */
export interface Workers {
  /** Workers that hold claims and run no longer; `self` is never one of them. Their leases may be ended. */
  ended(self: string): Promise<string[]>
}
