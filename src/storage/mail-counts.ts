import type { Event } from '../model/event.ts'
import { countedBy } from '../model/event-counts.ts'
import { FIXED_LIMITS } from '../model/limits.ts'
import { type Message, TRANSACTIONAL } from '../model/message.ts'
import { COUNTED, type Counted, type CountingContext } from '../model/stats.ts'
import { tableOf } from '../os/records.ts'
import { OUTCOME_WIDTHS_MS } from './outcome-widths.ts'
import type { NewDelivery, StatsFilter } from './store.ts'

const COLUMN_OF: Record<Counted, string> = {
  accepted: 'accepted',
  delivered: 'delivered',
  deferred: 'deferred',
  hardBounced: 'hard_bounced',
  softBounced: 'soft_bounced',
  lateBounced: 'late_bounced',
  opened: 'opened',
  uniqueOpened: 'unique_opened',
  clicked: 'clicked',
  uniqueClicked: 'unique_clicked',
  machineOpened: 'machine_opened',
  machineClicked: 'machine_clicked',
  unsubscribed: 'unsubscribed',
  complained: 'complained',
  suppressed: 'suppressed',
}
/** Columns of the counters, in the order of COUNTED. */
export const COUNT_COLUMNS = COUNTED.map((name) => COLUMN_OF[name])

/** Hour number of the row for a whole day, after those of its hours. */
export const WHOLE_DAY = 24
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Counts of one hour or day, to add to the stored ones. */
export interface StatsRow {
  /** Since 1970-01-01 UTC. */
  day: number
  /** 0 to 23, or WHOLE_DAY. */
  hour: number
  organizationId: string
  /** '' = everything; a stream as tagOfStream writes it. */
  tag: string
  mode: Message['mode']
  domainId: string
  /** In the order of COUNTED. */
  counts: readonly number[]
}

/** Outcomes of live mail of a domain in one span of time, to add to the stored ones. */
export interface OutcomesRow {
  widthMs: number
  domainId: string
  start: number
  delivered: number
  bounced: number
  hardBounced: number
  lateBounced: number
  complained: number
}

/** Streams other than the transactional one are counted like a tag. Tags contain no control characters. */
export const STREAM_TAG = '\x1f'
export const tagOfStream = (stream: string) => `${STREAM_TAG}${stream}`
/** Sorts behind every stream and before every tag. */
export const BEHIND_STREAMS = '\x20'

/** Filter → the tag whose rows are read. */
export const countedTag = ({ tag, stream = null }: StatsFilter): string =>
  tag ?? (stream === null || stream === TRANSACTIONAL ? '' : tagOfStream(stream))

/** The transactional stream is everything without the other streams. */
export const isTransactionalOnly = ({ tag, stream }: StatsFilter): boolean => tag === null && stream === TRANSACTIONAL

/** Sums up the counts of one commit, which are written once, before the commit, so that accepting mail stays fast.
 *  Counts of a rolled-back commit are dropped. */
export interface MailCounts {
  accepted(message: Message, deliveries: readonly NewDelivery[]): void
  event(event: Event, context: CountingContext): void
  /** Returns what was counted, and forgets it. */
  take(): { stats: StatsRow[]; outcomes: OutcomesRow[] }
  /** Drops the counts of changes that were rolled back. */
  drop(): void
}

export function createMailCounts(): MailCounts {
  const rows = new Map<string, Row>()
  const outcomes = new Map<string, Outcomes>()

  /** Tags per organization and current day. In memory, so that a restart admits as many again. */
  const tagsOf = new Map<string, { day: number; tags: Set<string> }>()
  /** Rows of tags are kept permanently: an organization with a tag per message ID must not fill the disk. */
  const isCountedApart = ({ organizationId, at }: Of, tag: string): boolean => {
    const day = Math.floor(at / DAY_MS)
    let known = tagsOf.get(organizationId)
    if (known === undefined || known.day < day) {
      known = { day, tags: new Set() }
      tagsOf.set(organizationId, known)
    }
    if (known.tags.has(tag)) return true
    if (known.tags.size >= FIXED_LIMITS.tagsPerDay) return false
    known.tags.add(tag)
    return true
  }

  /** Cached: consecutive messages often have the same domain and no tags. */
  let last: Row | null = null

  const rowOf = (of: Of, tag: string): number[] => {
    const hour = Math.floor(of.at / HOUR_MS)
    if (last !== null && last.hour === hour && last.tag === tag && isSame(last.of, of)) return last.counts
    // The tag comes last, since it may contain any characters.
    const key = `${hour} ${of.organizationId} ${of.domainId} ${of.mode} ${tag}`
    let row = rows.get(key)
    if (row === undefined) {
      row = { hour, of, tag, counts: COUNTED.map(() => 0) }
      rows.set(key, row)
    }
    last = row
    return row.counts
  }
  const count = (of: Of, { tags, stream }: Groups, name: Counted, by: number) => {
    const at = INDEX_OF[name]
    addAt(rowOf(of, ''), at, by)
    if (stream !== TRANSACTIONAL) addAt(rowOf(of, tagOfStream(stream)), at, by)
    for (const tag of tags.length > 1 ? new Set(tags) : tags) {
      if (isCountedApart(of, tag)) addAt(rowOf(of, tag), at, by)
    }
  }
  const countOutcome = (domainId: string, at: number, name: Counted) => {
    const start = Math.floor(at / FINEST_MS) * FINEST_MS
    const key = `${domainId} ${start}`
    let counts = outcomes.get(key)
    if (counts === undefined) {
      counts = { domainId, start, delivered: 0, bounced: 0, hardBounced: 0, lateBounced: 0, complained: 0 }
      outcomes.set(key, counts)
    }
    if (name === 'hardBounced' || name === 'softBounced') counts.bounced++
    if (name === 'delivered' || name === 'hardBounced' || name === 'lateBounced' || name === 'complained')
      counts[name]++
  }
  const drop = () => {
    rows.clear()
    last = null
    outcomes.clear()
  }

  return {
    accepted: ({ organizationId, domainId, mode, createdAt, ...groups }, deliveries) => {
      const of = { organizationId, domainId, mode, at: createdAt }
      count(of, groups, 'accepted', deliveries.length)
    },
    event: (event, context) => {
      const { organizationId, domainId, mode, createdAt } = event
      if (domainId === null) return
      const { counted, ...groups } = countedBy(event, context)
      for (const name of counted) {
        count({ organizationId, domainId, mode, at: createdAt }, groups, name, 1)
        if (mode === 'live' && OUTCOMES.has(name)) countOutcome(domainId, createdAt, name)
      }
    },
    take: () => {
      const stats = [...rows.values()].flatMap(({ hour, of, tag, counts }) => {
        const { organizationId, mode, domainId } = of
        const row = { day: Math.floor(hour / 24), organizationId, tag, mode, domainId, counts }
        return [
          { ...row, hour: hour % 24 },
          { ...row, hour: WHOLE_DAY },
        ]
      })
      const taken = { stats, outcomes: [...outcomes.values()].flatMap(inEachWidth) }
      drop()
      return taken
    },
    drop,
  }
}

function inEachWidth(row: Outcomes): OutcomesRow[] {
  return OUTCOME_WIDTHS_MS.map((widthMs) => ({ ...row, widthMs, start: Math.floor(row.start / widthMs) * widthMs }))
}

function addAt(counts: number[], at: number, by: number): void {
  counts[at] = (counts[at] ?? 0) + by
}

const INDEX_OF = tableOf(COUNTED, (name) => COUNTED.indexOf(name))
const FINEST_MS = OUTCOME_WIDTHS_MS[0]
const OUTCOMES: ReadonlySet<Counted> = new Set(['delivered', 'hardBounced', 'softBounced', 'lateBounced', 'complained'])

type Groups = Pick<Message, 'tags' | 'stream'>

/** Owner and time of a count. */
interface Of {
  organizationId: string
  domainId: string
  mode: Message['mode']
  at: number
}

function isSame(one: Of, other: Of): boolean {
  return one.domainId === other.domainId && one.mode === other.mode && one.organizationId === other.organizationId
}

interface Row {
  /** Hours since 1970. */
  hour: number
  of: Of
  tag: string
  /** In the order of COUNTED. */
  counts: number[]
}

type Outcomes = Omit<OutcomesRow, 'widthMs'>
