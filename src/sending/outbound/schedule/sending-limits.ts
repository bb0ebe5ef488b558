import type { Blocker, ClaimLimits, Quota } from '../../../storage/store.ts'
import type { WarmupLimits } from '../senders/warmups.ts'
import { ColdStartPacing } from './cold-start-pacing.ts'
import type { DestinationConcurrency } from './concurrency.ts'
import type { DestinationRoutes } from './destination-routes.ts'
import type { OwnerShares } from './owner-shares.ts'
import type { Route, WarmupLeft } from './routing.ts'

/** A route whose limits allow an attempt, and what counts for it. */
export interface Grant extends Route {
  /** The pool whose share the owner uses. */
  pool: string
  /** The address of `sender` in warm-up, for which each mail is counted before its attempt; null: none. */
  warmup: string | null
}

/** How much may start now: by concurrency and rate of the destination, the share of the organization, the warm-up of the
 *  address, and the pacing of what is not proven. All times are of the steady clock, in ms. */
export class SendingLimits {
  readonly #concurrency: DestinationConcurrency
  readonly #shares: OwnerShares
  readonly #routes: DestinationRoutes
  readonly #warmups: WarmupLimits | undefined
  readonly #pacing = new ColdStartPacing()

  constructor(parts: {
    concurrency: DestinationConcurrency
    shares: OwnerShares
    routes: DestinationRoutes
    warmups: WarmupLimits | undefined
  }) {
    this.#concurrency = parts.concurrency
    this.#shares = parts.shares
    this.#routes = parts.routes
    this.#warmups = parts.warmups
  }

  /** What may start by this route, of which a warm-up allows some, or the blocker it waits for. `owners`: those that the
   *  claim gives a share, by pool. */
  quotasOf(
    { key, owner }: Route,
    warm: WarmupLeft | null,
    { isFresh, at, owners }: { isFresh: boolean; at: number; owners?: PlannedOwners | undefined },
  ): (ClaimLimits & { pool: string }) | Blocker {
    const pool = this.#concurrency.poolOf(key)
    const share = this.#shares.left(pool.name, owner, pool.total, owners?.get(pool.name))
    const ofDestination = this.#concurrency.quotasOf(key, isFresh, at)
    if (!Array.isArray(ofDestination)) return ofDestination
    if (share <= 0) return this.#shares.blockerOf(pool.name, owner)
    const quotas: Quota[] = [...ofDestination, { name: this.#shares.nameOf(pool.name, owner), most: share }]
    if (this.#concurrency.isPaced(key, false)) {
      const { starts, nextAt } = this.#pacing.left(at)
      const isPaced = this.#concurrency.isPaced(key, isFresh)
      if (isPaced && starts <= 0) return { name: PACING, until: nextAt }
      quotas.push({ name: PACING, most: isPaced ? starts : Number.POSITIVE_INFINITY })
    }
    if (warm !== null) quotas.push({ name: warm.name, most: warm.mails })
    return { quotas, pool: pool.name }
  }

  /** Looks up the MX hosts of a domain, or waits for it; returns what its mail waits for. */
  lookUp(domain: string, owner: string, isFresh: boolean, at: number): Blocker {
    const { starts, nextAt } = this.#pacing.left(at)
    if (!isFresh && starts <= 0) return { name: PACING, until: nextAt }
    const { blocker, isNew } = this.#routes.lookUp(domain, owner, isFresh)
    if (isNew) this.#pacing.started(1, at)
    return blocker
  }

  /** The pool whose share a route uses. */
  poolOf(key: string): string {
    return this.#concurrency.poolOf(key).name
  }

  started({ key, owner, pool, warmup, route }: Grant, count: number, at: number): void {
    if (warmup !== null) this.#warmups?.reserve(warmup, route.destination, count)
    this.#shares.add(pool, owner, count)
    if (this.#concurrency.isPaced(key, false)) this.#pacing.started(count, at)
    this.#concurrency.started(key, count, at)
  }

  /** Undoes `started` for one mail whose delivery was not attempted. */
  undone({ key, owner, pool }: Grant): void {
    this.#shares.remove(pool, owner, 1)
    this.#concurrency.undone(key, 1)
  }

  /** Undoes the reservation of a mail that is not counted for a warm-up. */
  unreserve({ warmup, route }: Grant): void {
    if (warmup !== null) this.#warmups?.reserve(warmup, route.destination, -1)
  }

  ended({ key, owner, pool }: Grant, ending: Parameters<DestinationConcurrency['ended']>[1], at: number): void {
    if (ending.outcome.kind === 'delivered') this.#pacing.delivered(at)
    this.#shares.remove(pool, owner, 1)
    this.#concurrency.ended(key, ending, at)
  }
}

/** Pool → the owners to which one claim may give a share. */
export type PlannedOwners = Map<string, Set<string>>

const PACING = 'pacing'
