import { dayOf, type LimitName, type LimitReached, monthOf, PLAN_LIMITS } from '../../model/limits.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import type { Connection } from './driver.ts'

const USED = 'select used from usage where organization_id = ? and name = ? and period = ?'
const ADD = `insert into usage (organization_id, name, period, used) values (?, ?, ?, ?)
  on conflict do update set used = used + excluded.used`
const VOLUME = 'select accepted from volumes where organization_id = ? and month = ?'
const ADD_VOLUME = `insert into volumes (organization_id, month, accepted) values (?, ?, ?)
  on conflict do update set accepted = accepted + excluded.accepted`
const PRUNE = `delete from usage where (organization_id, name, period) in (
  select organization_id, name, period from usage where name = ? and period < ? and period <> '' limit ?)`

/** What is counted as it changes; the rest is counted by looking. `stored_bytes_count` is that of a count under way. */
export type Counter =
  | 'stored_bytes'
  | 'stored_bytes_count'
  | 'test_messages'
  | 'forwards'
  | 'scheduled_messages'
  | 'suppressions'
  | 'confirmation_mails'

/** Plan of an organization, as the config has it. */
export type PlanOf = (organizationId: string) => Plan

/** Counters and limits, inside changes. What changes of one commit add up to is written once, before the commit. */
export interface Usage {
  /** With what this transaction adds. Not below 0: a count from the beginning may be under way. */
  used(organizationId: string, counter: Counter, period?: string): number
  add(organizationId: string, counter: Counter, by: number, period?: string): void
  /** Whether `more` still fit the plan: null, or the limit that they would pass. `used` is called for limited plans only. */
  reached(organizationId: string, name: LimitName, more: number, used: () => number): LimitReached | null
  planOf: PlanOf
  /** Whether so many recipients may be forwarded to now, by the day's limit and by the month's volume: null, or the limit. */
  forwardsReached(organizationId: string, recipients: number, now: number): LimitReached | null
  /** Counts them, as both. */
  addForwards(organizationId: string, recipients: number, now: number): void
  /** Removes at most `limit` counts of periods before `before`; answers how many went. */
  prune(counter: Counter, before: string, limit: number): number
  /** Writes what was gathered. Inside the transaction. */
  flush(): void
  /** The changes were taken back. */
  forget(): void
}

export function createUsage(db: Connection, planOf: PlanOf): Usage {
  const read = db.prepare<unknown[], number>(USED).pluck()
  const write = db.prepare(ADD)
  const prune = db.prepare(PRUNE)
  const volume = db.prepare<unknown[], number>(VOLUME).pluck()
  const addVolume = db.prepare(ADD_VOLUME)
  const pending = new Map<string, { of: [string, Counter, string]; by: number }>()
  const keyOf = (organizationId: string, counter: Counter, period: string) => `${organizationId} ${counter} ${period}`

  const used = (organizationId: string, counter: Counter, period = '') => {
    const stored = read.get(organizationId, counter, period) ?? 0
    return Math.max(0, stored + (pending.get(keyOf(organizationId, counter, period))?.by ?? 0))
  }
  /** One message mostly follows upon another of the same organization. */
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
    const limit = planOf(organizationId)[PLAN_LIMITS[name].of]
    if (limit === UNLIMITED || more <= 0) return null
    const count = present()
    return count + more > limit ? { kind: 'limit' as const, name, limit, used: count } : null
  }

  const forget = () => {
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
    prune: (counter, before, limit) => prune.run(counter, before, limit).changes,
    flush: () => {
      for (const { of, by } of pending.values()) if (by !== 0) write.run(...of, by)
      forget()
    },
    forget,
  }
}
