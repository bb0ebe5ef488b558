import type { Event } from '../../model/event.ts'
import type { EventFilter } from '../store.ts'
import type { Connection } from './driver.ts'
import { type Numbers, when } from './page.ts'

const NOTE = `insert into event_kinds (organization_id, range, type, mode, domain_id) values (?, ?, ?, ?, ?)
  on conflict do nothing`
// The driver binds numbers as floating-point.
const OLD = `select distinct range from event_kinds where organization_id = ?
    and range < (select coalesce(min(number), ?) from events where organization_id = ?) / cast(? as integer)
  order by range limit ?`
const REMOVE = 'delete from event_kinds where organization_id = ? and range = ?'

/** Event numbers per range. Reading a range takes a millisecond, and its thousand events cause about ten rows. Tests
 *  change it. */
export const RANGE = 1024
/** Ranges per query: half a millisecond if an organization has few domains. */
const SPAN = 256

/** Types, modes and domains that occur in each range of event numbers of an organization. A list of rare events
 *  skips all other ranges, so that no index entry per event is needed. */
export interface EventKinds {
  /** Call it inside the change that writes the event. */
  note(event: Event, number: number | bigint): void
  /** Drops the notes of a transaction that was rolled back. */
  drop(): void
  /** Ranges that retention has emptied, the oldest first. */
  emptied(organizationId: string, limit: number): number[]
  /** Inside a change. */
  remove(organizationId: string, range: number): void
}

/** True if the filter uses a property that ranges are noted by. */
export function asksForKind({ type, mode, domainId }: EventFilter): boolean {
  return type !== null || mode !== null || domainId !== null
}

export function eventKinds(db: Connection): EventKinds {
  const note = db.prepare(NOTE)
  const old = db.prepare<unknown[], number>(OLD).pluck()
  const remove = db.prepare(REMOVE)
  /** Kinds already noted in the range that is currently written. */
  const noted = new Set<string>()
  let current = -1

  return {
    note: ({ organizationId, type, mode, domainId }, number) => {
      const range = rangeOf(Number(number))
      if (range !== current) noted.clear()
      current = range
      const kind = `${organizationId} ${type} ${mode} ${domainId}`
      if (noted.has(kind)) return
      note.run(organizationId, range, type, mode, domainId ?? '')
      noted.add(kind)
    },
    drop: () => noted.clear(),
    emptied: (organizationId, limit) => old.all(organizationId, Number.MAX_SAFE_INTEGER, organizationId, RANGE, limit),
    remove: (organizationId, range) => {
      remove.run(organizationId, range)
      noted.clear()
    },
  }
}

/** → the spans of numbers from `low` to before `high`, in order, each with its parts that may contain matches; most have
 *  none. */
export function kindSpans(
  db: Connection,
): (filter: EventFilter, bounds: Numbers, order: 'asc' | 'desc') => Generator<Numbers[]> {
  return function* (filter, { low, high }, order) {
    const conditions = [
      { sql: 'organization_id = ?', values: [filter.organizationId] },
      ...when(filter.type, 'type = ?'),
      ...when(filter.mode, 'mode = ?'),
      ...when(filter.domainId, 'domain_id = ?'),
    ]
    const sql = `select distinct range from event_kinds where ${conditions.map((each) => each.sql).join(' and ')}
      and range >= ? and range < ? order by range ${order}`
    const ranges = db.prepare<unknown[], number>(sql).pluck()
    const values = conditions.flatMap((each) => each.values)
    const [first, end] = [rangeOf(low), rangeOf(high - 1) + 1]
    const toNumbers = (range: number) => ({
      low: Math.max(low, range * RANGE),
      high: Math.min(high, (range + 1) * RANGE),
    })
    for (let done = 0; done < end - first; done += SPAN) {
      const from = order === 'asc' ? first + done : Math.max(first, end - done - SPAN)
      const before = order === 'asc' ? Math.min(end, from + SPAN) : end - done
      yield ranges.all(...values, from, before).map(toNumbers)
    }
  }
}

const rangeOf = (number: number) => Math.floor(number / RANGE)
