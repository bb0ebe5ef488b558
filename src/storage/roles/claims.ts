/** Which worker holds a row, and until when. */
export interface Lease {
  worker: string
  until: number
}

/** Why a key (a destination, a webhook, a route) cannot start anything now. Several keys may share a blocker: a destination
 *  at its limit, a DNS answer. `until` (ms UTC) is when it ends by itself; null = only by `freed`. */
export interface Blocker {
  name: string
  until: number | null
}

/** How many deliveries one claim may take of everything that counts against `name`, over all keys.
 *
 *  `most` is a number. `parts` is a share of what stays free: deliveries that count against `name`, with the `underWay` of
 *  before, times `parts`, never exceed the rest of the claim's `limit`; where none is under way, one may always start.
 *  A name is also the name of the blocker behind which a key waits that found the quota used up. */
export type Quota = { name: string; most: number } | { name: string; underWay: number; parts: number }

/** What one claim may take of a key: what every quota leaves, of what was due by `dueUntil` (absent = `now`). */
export interface ClaimLimits {
  quotas: readonly Quota[]
  dueUntil?: number
}

/** The scheduler's answer about a key whose first delivery is due since `dueAt`. `false` = not now, for no named reason: the
 *  key is asked about again at every look. */
export type Look = (key: string, dueAt: number) => ClaimLimits | Blocker | false

/** One line of a claim plan. */
export interface PlannedKey {
  key: string
  /** Since when something of it is due. */
  dueAt: number
  dueUntil: number
  quotas: readonly Quota[]
}

export interface PlanRequest {
  now: number
  /** At most so many keys. */
  limit: number
  look: Look
}

export interface ClaimRequest {
  now: number
  limit: number
  lease: Lease
  plan: readonly PlannedKey[]
}

/** A queue of deliveries. The scheduler plans, the store claims, the scheduler counts what it got:
 *
 *  1. `planClaims` asks `look` about the keys that are due, longest due first, and takes those that may start something off
 *     the due index. In memory and synchronous; no transaction is open.
 *  2. `claimDue` leases rows by that plan in one transaction. The plan is plain data; nothing is called back. Every planned
 *     key is on the due index again afterwards. Where the claim is rejected, the scheduler calls `putBack`.
 *  3. The scheduler counts the claims it received against its limits. */
export interface ClaimQueue<Claim, Request extends ClaimRequest = ClaimRequest> {
  /** When the next delivery is due among keys that have room, or a blocker ends; null when there is neither. Keys that are
   *  due after `now` count without being asked about. */
  nextDueAt(look: Look, now?: number): number | null
  planClaims(request: PlanRequest): PlannedKey[]
  /** Puts the keys of a plan that was not claimed back on the due index. */
  putBack(plan: readonly PlannedKey[]): void
  /** Takes up to `limit` deliveries that are due, in the order of the plan. Each has its attempt counted and is not due again
   *  before the lease ends. */
  claimDue(request: Request): Promise<Claim[]>
  /** Keys behind this blocker may have room. */
  freed(blocker: string): void
}
