import { UNLIMITED } from '../../model/organization.ts'
import { setNewest } from '../../os/set-newest.ts'
import { bytesOf, needsOf } from '../accepted-needs.ts'
import type { AcceptedMessage, Messages, Remember } from '../store.ts'
import { textArray } from './arrays.ts'
import { type NewContent, takeOver } from './contents.ts'
import type { Group, Kind } from './group.ts'
import { readRemembered } from './idempotency.ts'
import type { Queries } from './transactions.ts'
import { type Counted, keyOf, type Usage } from './usage.ts'

const SCHEDULED = `select organization_id as "organizationId", count(distinct message_id)::int as count
  from delivery_queue where organization_id = any($1::text[]) and status = 'scheduled' group by 1`

/** One call of Messages.accept. */
export interface Acceptance {
  accepted: readonly AcceptedMessage[]
  volume: { organizationId: string; month: string; count: number; limit: number }
  record: Remember | undefined
}

/** `repeated`: another request with the same idempotency key was first. */
type Answer = Awaited<ReturnType<Messages['accept']>> | { kind: 'repeated' }

/** Number of messages of each organization that wait for their time. */
async function countScheduled(
  { query }: Queries,
  organizationIds: readonly string[],
): Promise<(organizationId: string) => number> {
  if (organizationIds.length === 0) return () => 0
  const rows = await query<{ organizationId: string; count: number }>(SCHEDULED, [textArray(organizationIds)])
  const counts = new Map(rows.map(({ organizationId, count }) => [organizationId, count]))
  return (organizationId) => counts.get(organizationId) ?? 0
}

/** Contents of accepted messages. */
export function contentsOf(accepted: readonly AcceptedMessage[]): NewContent[] {
  return accepted.map(({ message, content }) => ({ ownerId: message.id, kind: 'content', bytes: content }))
}

/** At most so many messages of an organization wait for their time: a count, and those that were accepted since. */
interface ScheduledBound {
  waiting: number
  everScheduled: number
}

/** How a group of calls is performed: those of limited plans one after the other. */
export function acceptKind(usage: Usage): Kind<Acceptance, Answer> {
  const bounds = new Map<string, ScheduledBound>()
  return {
    perform: async (group, all) => {
      const isRemembered = await readRemembered(
        group.statements,
        all.flatMap(({ record }) => record ?? []),
      )
      const isRepeated = new Set(all.filter(({ record }) => record !== undefined && isRemembered(record)))
      const refusalOf = await readLimits(
        group,
        all.filter((each) => !isRepeated.has(each)),
        usage,
        bounds,
      )
      const taken: NewContent[] = []
      const answers = all.map((acceptance) => {
        if (isRepeated.has(acceptance)) return { kind: 'repeated' as const }
        const refusal = refusalOf(acceptance)
        if (refusal !== null) return refusal
        add(group, acceptance)
        taken.push(...contentsOf(acceptance.accepted))
        return { kind: 'accepted' as const }
      })
      await takeOver(group.statements, taken)
      return answers
    },
  }
}

function add({ add }: Group, { accepted, volume, record }: Acceptance): void {
  const { organizationId, month, count } = volume
  if (count > 0) add.use(organizationId, 'volume', count, month)
  const { tests, scheduled } = needsOf(accepted)
  if (tests > 0) add.use(organizationId, 'test_messages', tests, month)
  if (scheduled > 0) add.use(organizationId, 'ever_scheduled', scheduled)
  for (const each of accepted) add.message(each)
  add.remember(record)
}

/** Reads what limited plans have used → why a call is refused, asked in their order; null if it is not. */
async function readLimits(
  { statements, add }: Group,
  all: readonly Acceptance[],
  usage: Usage,
  bounds: Map<string, ScheduledBound>,
): Promise<(acceptance: Acceptance) => Exclude<Answer, { kind: 'accepted' | 'repeated' }> | null> {
  const limited = all.filter((each) => isLimited(each, usage))
  if (limited.length === 0) return () => null
  const organizationIds = [...new Set(limited.map(({ volume }) => volume.organizationId))].sort()
  await usage.lock(statements, organizationIds)
  const asked = new Map(limited.flatMap(countersOf).map((counted) => [keyOf(counted), counted]))
  const stored = await usage.usedOf(statements, [...asked.values()])
  const storedScheduled = await readScheduled({ statements, add }, limited.filter(isScheduled), {
    usage,
    bounds,
    stored,
  })
  const scheduledHere = new Map<string, number>()

  return (acceptance) => {
    const { accepted, volume, record } = acceptance
    const { organizationId, month, count, limit } = volume
    const used = (counter: Counted['counter'], period = '') =>
      stored({ organizationId, counter, period }) + add.used(organizationId, counter, period)
    const isOver = count > 0 && limit !== UNLIMITED && used('volume', month) + count > limit
    if (isOver) return { kind: 'volume_exceeded', used: used('volume', month) }
    if (!isLimited(acceptance, usage)) return null
    const { tests, scheduled } = needsOf(accepted)
    const alreadyScheduled = storedScheduled(organizationId) + (scheduledHere.get(organizationId) ?? 0)
    const refusal =
      usage.exceeds(organizationId, 'test_messages_per_month', tests, used('test_messages', month)) ??
      usage.exceeds(organizationId, 'scheduled_messages', scheduled, alreadyScheduled) ??
      usage.exceeds(organizationId, 'stored_bytes', bytesOf(accepted, record), used('stored_bytes'))
    if (refusal === null) scheduledHere.set(organizationId, (scheduledHere.get(organizationId) ?? 0) + scheduled)
    return refusal
  }
}

/** Organizations are counted only when more could wait than their plan allows: a count reads each waiting message → the
 *  number of each, or more than it. */
async function readScheduled(
  { statements, add }: Group,
  all: readonly Acceptance[],
  { usage, bounds, stored }: { usage: Usage; bounds: Map<string, ScheduledBound>; stored: (of: Counted) => number },
): Promise<(organizationId: string) => number> {
  const needs = new Map<string, number>()
  for (const { accepted, volume } of all) {
    const { organizationId } = volume
    needs.set(organizationId, (needs.get(organizationId) ?? 0) + needsOf(accepted).scheduled)
  }
  const everScheduled = (organizationId: string) => stored({ organizationId, counter: 'ever_scheduled', period: '' })
  const boundOf = (organizationId: string) => {
    const bound = bounds.get(organizationId)
    return bound === undefined
      ? Number.POSITIVE_INFINITY
      : bound.waiting + everScheduled(organizationId) - bound.everScheduled
  }
  const isOver = ([organizationId, need]: [string, number]) =>
    usage.exceeds(organizationId, 'scheduled_messages', need, boundOf(organizationId)) !== null
  const over = [...needs].filter(isOver).map(([organizationId]) => organizationId)
  const counted = await countScheduled(statements, over)
  add.afterCommit(() => {
    for (const organizationId of over) {
      const bound = { waiting: counted(organizationId), everScheduled: everScheduled(organizationId) }
      setNewest(bounds, organizationId, bound, BOUNDS)
    }
  })
  return (organizationId) => (over.includes(organizationId) ? counted(organizationId) : boundOf(organizationId))
}

/** Organizations whose bounds are remembered. */
const BOUNDS = 10_000

/** True if a limit could refuse the call. */
function isLimited({ accepted, volume }: Acceptance, usage: Usage): boolean {
  if (volume.count > 0 && volume.limit !== UNLIMITED) return true
  const { testMessagesPerMonth, scheduledMessages, storedBytes } = usage.planOf(volume.organizationId)
  const { tests, scheduled } = needsOf(accepted)
  return (
    storedBytes !== UNLIMITED ||
    (tests > 0 && testMessagesPerMonth !== UNLIMITED) ||
    (scheduled > 0 && scheduledMessages !== UNLIMITED)
  )
}

const isScheduled = ({ accepted }: Acceptance) => needsOf(accepted).scheduled > 0

function countersOf({ volume: { organizationId, month } }: Acceptance): Counted[] {
  return [
    { organizationId, counter: 'volume', period: month },
    { organizationId, counter: 'test_messages', period: month },
    { organizationId, counter: 'stored_bytes', period: '' },
    { organizationId, counter: 'ever_scheduled', period: '' },
  ]
}
