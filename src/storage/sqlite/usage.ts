import { dayOf, type LimitName, type LimitReached, monthOf, PLAN_LIMITS } from '../../model/limits.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import type { Connection } from './driver.ts'

const USED = 'select used from usage where organization_id = ? and name = ? and period = ?'
const ADD = `insert into usage (organization_id, name, period, used) values (?, ?, ?, ?)
  on conflict do update set used = used + excluded.used`
const VOLUME = 'select accepted from volumes where organization_id = ? and month = ?'
const ADD_VOLUME = `insert into volumes (organization_id, month, accepted) values (?, ?, ?)
  on conflict do update set accepted = accepted + excluded.accepted`

/** What is counted as it changes; the rest is counted from records. `stored_bytes_count` belongs to a recount in
 *  progress. */
export type Counter =
  | 'stored_bytes'
  | 'stored_bytes_count'
  | 'test_messages'
  | 'forwards'
  | 'scheduled_messages'
  | 'suppressions'
  | 'confirmation_mails'

/** Plan of an organization, as configured. */
export type PlanOf = (organizationId: string) => Plan

/** Counters and limits, inside changes. The sums of one commit are written once, before the commit. */
export interface Usage {
  /** Includes changes of this transaction. Never below 0, which could occur during a recount. */
  used(organizationId: string, counter: Counter, period?: string): number
  add(organizationId: string, counter: Counter, by: number, period?: string): void
  /** Null if `more` fits the plan, else the limit that it would exceed. `used` is called for limited plans only. */
  reached(organizationId: string, name: LimitName, more: number, used: () => number): LimitReached | null
  planOf: PlanOf
  /** Null if that many recipients may be forwarded to now, else the limit: the daily one or the monthly volume. */
  forwardsReached(organizationId: string, recipients: number, now: number): LimitReached | null
  /** Counts forwarded recipients towards both limits. */
  addForwards(organizationId: string, recipients: number, now: number): void
  /** Writes the collected counts, inside the transaction. */
  flush(): void
  /** Drops changes that were rolled back. */
  drop(): void
}

export function createUsage(db: Connection, planOf: PlanOf): Usage {
  const read = db.prepare<unknown[], number>(USED).pluck()
  const write = db.prepare(ADD)
  const volume = db.prepare<unknown[], number>(VOLUME).pluck()
  const addVolume = db.prepare(ADD_VOLUME)
  const pending = new Map<string, { of: [string, Counter, string]; by: number }>()
  const keyOf = (organizationId: string, counter: Counter, period: string) => `${organizationId} ${counter} ${period}`

  const used = (organizationId: string, counter: Counter, period = '') => {
    const stored = read.get(organizationId, counter, period) ?? 0
    return Math.max(0, stored + (pending.get(keyOf(organizationId, counter, period))?.by ?? 0))
  }
  /** Cached: consecutive messages often belong to the same organization. */
  let last: { of: [string, Counter, string]; by: number } | null = null
  const add = (organizationId: string, counter: Counter, by: number, period = '') => {
    if (last !== null && last.of[0] === organizationId && last.of[1] === counter && last.of[2] === period) {
      last.by += by
      return
    }
    const key = keyOf(organizationId, counter, period)
    last = pending.get(key) ?? { of: [organizationId, counter, period], by: 0 }
    last.by += by
    pending.set(key, last)
  }
  const reached = (organizationId: string, name: LimitName, more: number, present: () => number) => {
    if (more <= 0) return null
    const limit = planOf(organizationId)[PLAN_LIMITS[name].of]
    if (limit === UNLIMITED) return null
    const count = present()
    return count + more > limit ? { kind: 'limit' as const, name, limit, used: count } : null
  }

  const drop = () => {
    pending.clear()
    last = null
  }

  return {
    planOf,
    used,
    add,
    reached,
    forwardsReached: (organizationId, recipients, now) =>
      reached(organizationId, 'forwards_per_day', recipients, () => used(organizationId, 'forwards', dayOf(now))) ??
      reached(organizationId, 'messages_per_month', recipients, () => volume.get(organizationId, monthOf(now)) ?? 0),
    addForwards: (organizationId, recipients, now) => {
      if (recipients === 0) return
      add(organizationId, 'forwards', recipients, dayOf(now))
      addVolume.run(organizationId, monthOf(now), recipients)
    },
    flush: () => {
      for (const { of, by } of pending.values()) if (by !== 0) write.run(...of, by)
      drop()
    },
    drop,
  }
}
