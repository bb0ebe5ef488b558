/** What a claim may take. */
export interface Room {
  /** How many more of this key, the first of them due since `at`, may start; or what it has to wait for. A plain 0 is
   *  asked about again at every look. */
  freeFor(key: string, at: number): number | Obstacle
  /** A claim begins, perhaps once more: what an earlier run took counts for nothing. */
  begin?(): void
  /** So many were taken; `freeFor` knows it from now on. */
  took?(key: string, count: number): void
}

/** What keys wait for, some of them together: a full site, an answer of the DNS. `until` (ms UTC) is when it ends by
 *  itself; null = only by being freed. */
export interface Obstacle {
  name: string
  until: number | null
}

/** Which worker holds a row, and until when. */
export interface Lease {
  worker: string
  until: number
}
