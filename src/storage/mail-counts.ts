import { groupOf } from '../model/destination-group.ts'
import type { Event } from '../model/event.ts'
import { countedBy } from '../model/event-counts.ts'
import { FIXED_LIMITS } from '../model/limits.ts'
import { type Message, TRANSACTIONAL } from '../model/message.ts'
import { COUNTED, type Counted, type CountingContext } from '../model/stats.ts'
import { destinationOfHost } from '../net/destination-host.ts'
import { tableOf } from '../os/records.ts'
import { OUTCOME_WIDTHS_MS } from './outcome-widths.ts'
import type { NewDelivery } from './roles/messages.ts'
import type { StatsFilter } from './roles/stats.ts'

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
  replied: 'replied',
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
  /** '' = everything; a tag, or a stream, template or provider behind its prefix. */
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

/** Streams other than the transactional one, templates and providers are counted like a tag, each kind behind a prefix of its
 *  own. Tags contain no control characters. */
export const PROVIDER_TAG = '\x1d'
export const TEMPLATE_TAG = '\x1e'
export const STREAM_TAG = '\x1f'
const tagOfStream = (stream: string) => `${STREAM_TAG}${stream}`
/** Sorts behind every prefix and before every tag. */
export const FIRST_TAG = '\x20'

/** Filter → the tag whose rows are read. */
export const countedTag = ({ tag, stream = null }: StatsFilter): string =>
  tag ?? (stream === null || stream === TRANSACTIONAL ? '' : tagOfStream(stream))

/** The transactional stream is everything without the other streams. */
export const isTransactionalOnly = ({ tag, stream }: StatsFilter): boolean => tag === null && stream === TRANSACTIONAL

/** Sums up the counts of one commit, which are written once, before the commit, so that accepting mail stays fast.
 *  Counts of a rolled-back commit are dropped. */
export interface MailCounts {
  accepted(message: Message, deliveries: readonly NewDelivery[]): void
  /** Counts a recipient as accepted for its provider, which is known from the first attempt that finds its host. */
  reached(of: Pick<Event, 'organizationId' | 'domainId' | 'mode'>, mxHost: string | null, at: number): void
  event(event: Event, context: CountingContext): void
  /** Returns what was counted, and forgets it. */
  take(): { stats: StatsRow[]; outcomes: OutcomesRow[] }
  /** Drops the counts of changes that were rolled back. */
  drop(): void
}

export function createMailCounts(): MailCounts {
  const rows = new Map<string, Row>()
  const outcomes = new Map<string, Outcomes>()

  /** Tags per organization, kind and current day. In memory, so that a restart admits as many again. */
  const tagsOf = new Map<string, { day: number; tags: Set<string> }>()
  /** Rows of tags are kept permanently: an organization with a tag per message ID must not fill the disk. */
  const isCountedApart = ({ organizationId, at }: Of, tag: string, kind = ''): boolean => {
    const day = Math.floor(at / DAY_MS)
    let known = tagsOf.get(organizationId + kind)
    if (known === undefined || known.day < day) {
      known = { day, tags: new Set() }
      tagsOf.set(organizationId + kind, known)
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
  /** Under the name alone, or with those that are beyond the limit of a day under ''. */
  const countIn = (of: Of, kind: string, name: string, counted: Counted, by: number) =>
    addAt(rowOf(of, kind + (name !== '' && isCountedApart(of, name, kind) ? name : '')), INDEX_OF[counted], by)
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
    accepted: (message, deliveries) => {
      const { organizationId, domainId, mode, createdAt: at } = message
      const of = { organizationId, domainId, mode, at }
      count(of, message, 'accepted', deliveries.length)
      if (message.templateId !== null) countIn(of, TEMPLATE_TAG, message.templateId, 'accepted', deliveries.length)
    },
    reached: ({ domainId, ...of }, mxHost, at) => {
      if (domainId !== null) countIn({ ...of, domainId, at }, PROVIDER_TAG, providerNamed(mxHost), 'accepted', 1)
    },
    event: (event, context) => {
      const { organizationId, domainId, mode, createdAt } = event
      if (domainId === null) return
      const { counted, ...groups } = countedBy(event, context)
      for (const name of counted) {
        const of = { organizationId, domainId, mode, at: createdAt }
        count(of, groups, name, 1)
        const { templateId, mxHost } = context
        if (templateId) countIn(of, TEMPLATE_TAG, templateId, name, 1)
        if (mxHost !== undefined) countIn(of, PROVIDER_TAG, providerNamed(mxHost), name, 1)
        if (mode === 'live' && OUTCOMES.has(name)) countOutcome(domainId, createdAt, name)
      }
    },
    take: () => {
      if (rows.size === 0) return NOTHING
      const stats: StatsRow[] = []
      for (const { hour, of, tag, counts } of rows.values()) {
        const { organizationId, mode, domainId } = of
        const day = Math.floor(hour / 24)
        for (const part of [hour % 24, WHOLE_DAY])
          stats.push({ day, hour: part, organizationId, tag, mode, domainId, counts })
      }
      const taken = { stats, outcomes: [...outcomes.values()].flatMap(inEachWidth) }
      drop()
      return taken
    },
    drop,
  }
}

/** MX host → the group of its destination, or the destination itself; '' without a host. */
function providerNamed(mxHost: string | null): string {
  if (mxHost === null) return ''
  const destination = destinationOfHost(mxHost)
  const group = groupOf(destination)
  return group === 'others' ? destination : group
}

const NOTHING: ReturnType<MailCounts['take']> = { stats: [], outcomes: [] }

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
