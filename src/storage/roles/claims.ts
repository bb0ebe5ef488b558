/** What a worker holds of a queue: the row, the number of its attempt, and the worker. */
export interface HeldClaim {
  id: string
  attempt: number
  worker: string
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
  /** Holds what is claimed until it records a result, gives it back, or ends (Workers). */
  worker: string
  plan: readonly PlannedKey[]
}

/** A queue of deliveries. The scheduler plans, the store claims, the scheduler counts what it got:
 *
 *  1. `planClaims` asks `look` about the keys that are due, longest due first, and takes those that may start something off
 *     the due index. No transaction is open.
 *  2. `claimDue` gives rows to the worker by that plan in one transaction. The plan is plain data; nothing is called back. Every planned
 *     key is on the due index again afterwards. Where the claim is rejected, the scheduler calls `putBack`.
 *  3. The scheduler counts the claims it received against its limits. */
export interface ClaimQueue<Claim, Request extends ClaimRequest = ClaimRequest> {
  /** Earliest due time among keys that may start, or the end of a blocker; null if there is neither. Keys due after
   *  `now` count without a look. */
  nextDueAt(look: Look, now?: number): Promise<number | null>
  planClaims(request: PlanRequest): Promise<PlannedKey[]>
  /** Puts the keys of a plan that was not claimed back on the due index. */
  putBack(plan: readonly PlannedKey[]): Promise<void>
  /** Takes up to `limit` deliveries that are due, in the order of the plan. Each has its attempt counted and is not due again
   *  while the worker holds it. */
  claimDue(request: Request): Promise<Claim[]>
  /** Keys behind these blockers may be able to start something. */
  freed(blockers: readonly string[]): Promise<void>
  /** Gives back what was claimed and never tried: uncounts the attempt, due again at `dueAt` (ms UTC). A claim that its worker
   *  no longer holds is left alone. */
  release(claims: readonly HeldClaim[], dueAt: number): Promise<void>
  /** Ends the leases of a worker that has no work for them: those of a worker that ended (`underWay` is empty), or of this
   *  process when a claim was lost. `underWay` has the ids of deliveries that the worker is working on. Attempts stay
   *  counted, and each row is due at `now`; a delivery whose process died more than twice waits up to some minutes.
   *  Answers how many leases ended. */
  endLeases(worker: string, underWay: ReadonlySet<string>, now: number): Promise<number>
  /** Makes deliveries due at `now` that wait although their last attempt, or their acceptance, lies after `now`: the clock was
   *  ahead then and has been set back. Scheduled messages keep their dates. Looks at some of the queue with each call;
   *  true while there is more to look at. */
  endFutureWaits(now: number): Promise<boolean>
}
