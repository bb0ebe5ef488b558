/** Identity of a claimed row: its ID, the number of its attempt, and its worker. */
export interface HeldClaim {
  id: string
  attempt: number
  worker: string
}

/** Why a key (a destination, a webhook, a route) cannot start anything now. Several keys may share a blocker, such
 *  as a destination at its limit or a DNS lookup. `until` (ms UTC) is when it ends by itself; null = only by
 *  `freed`. */
export interface Blocker {
  name: string
  until: number | null
}

/** Limit of deliveries that one claim may take of everything that counts against `name`, over all keys.
 *
 *  `most` is a number. `parts` is a share of the free capacity: the deliveries that count against `name`, including
 *  those already in progress (`underWay`), times `parts`, never exceed the rest of the claim's `limit`; if none is
 *  in progress, one may always start. A key that finds the quota used up waits behind a blocker with the same name. */
export type Quota = { name: string; most: number } | { name: string; underWay: number; parts: number }

/** What one claim may take of a key: what every quota allows, of deliveries due by `dueUntil` (default: the claim's `now`). */
export interface ClaimLimits {
  quotas: readonly Quota[]
  dueUntil?: number
}

/** The scheduler's answer for a key whose first delivery is due since `dueAt`. `false` = not now, without a named
 *  reason: `look` is called again for the key each time. */
export type Look = (key: string, dueAt: number) => ClaimLimits | Blocker | false

/** One line of a claim plan. */
export interface PlannedKey {
  key: string
  /** Time since which one of its deliveries is due. */
  dueAt: number
  dueUntil?: number
  quotas: readonly Quota[]
}

export interface PlanRequest {
  now: number
  /** Maximum number of keys. */
  limit: number
  look: Look
}

export interface ClaimRequest {
  now: number
  limit: number
  /** Worker that leases the claimed rows until it records a result, gives them back, or ends (Workers). */
  worker: string
  plan: readonly PlannedKey[]
}

/** A queue of deliveries. The scheduler plans, the store claims, the scheduler counts its claims:
 *
 *  1. `planClaims` calls `look` for the keys that are due, longest due first, and takes those that may start
 *     something off the due index. It runs outside a transaction, right before the store can claim, so that `look`
 *     sees the latest limits.
 *  2. `claimDue` gives rows to the worker by that plan in one transaction. The plan is plain data; nothing is called
 *     back. Every planned key is on the due index again afterwards. Where the claim is rejected, the scheduler calls
 *     `putBack`.
 *  3. The scheduler counts the claims it received against its limits. */
export interface ClaimQueue<Claim, Request extends ClaimRequest = ClaimRequest> {
  /** Earliest due time among keys that may start, or the end of a blocker; null if there is neither. Keys due after
   *  `now` count without a look. */
  nextDueAt(look: Look, now?: number): Promise<number | null>
  planClaims(request: PlanRequest): Promise<PlannedKey[]>
  /** Puts the keys of a plan that was not claimed back on the due index. */
  putBack(plan: readonly PlannedKey[]): Promise<void>
  /** Claims up to `limit` due deliveries, in the order of the plan. Each has its attempt counted and is not due
   *  again while the worker leases it. */
  claimDue(request: Request): Promise<Claim[]>
  /** Keys behind these blockers may be able to start something. */
  freed(blockers: readonly string[]): Promise<void>
  /** Gives back claims without an attempt: uncounts the attempt, and makes the row due at `dueAt` (ms UTC). Claims
   *  that the worker no longer leases stay unchanged. */
  release(claims: readonly HeldClaim[], dueAt: number): Promise<void>
  /** Ends the leases of a worker without work: those of a worker that ended (`underWay` is empty), or of this
   *  process after a claim was lost. `underWay` contains the IDs of deliveries in progress. Attempts stay counted,
   *  and each row is due at `now`; a delivery whose process died more than twice waits up to some minutes. Returns
   *  the number of ended leases. */
  endLeases(worker: string, underWay: ReadonlySet<string>, now: number): Promise<number>
  /** Makes deliveries due at `now` whose last attempt or acceptance lies after `now`: the clock was ahead then and
   *  has been set back. Of several nodes each does so for what it handles. Scheduled messages keep their dates. Each call
   *  checks the next part of the queue; false after the last one. The call after that begins again. */
  endFutureWaits(now: number): Promise<boolean>
}
