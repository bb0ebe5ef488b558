import { type LimitName, type LimitReached, PLAN_LIMITS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { messageStoredBytes } from '../../model/stored-bytes.ts'
import type { Work } from '../sql.ts'
import type { AcceptedMessage, Messages, Remember } from '../store.ts'
import type { Counted, MailInside } from './inside.ts'

/** One call of Messages.accept. */
export interface Acceptance {
  accepted: readonly AcceptedMessage[]
  volume: Parameters<Messages['accept']>[1]
  record: Remember | undefined
}

export type Refusal = Exclude<Awaited<ReturnType<Messages['accept']>>, { kind: 'accepted' }>

/** Decides about a call: why a limit refuses it. Null if none does, and then the call counts for those that follow. */
export type Decide = (call: Acceptance) => Refusal | null

/** Reads what the organizations of limited plans have used, all of it at once → what decides about each call in turn. */
export function* readLimits(inside: MailInside, calls: readonly Acceptance[]): Work<Decide> {
  const limited = calls.filter((call) => isLimited(inside, call))
  if (limited.length === 0) return () => null
  const asked = new Map(limited.flatMap(countersOf).map((counted) => [keyOf(counted), counted]))
  const read = yield* inside.usedOf([...asked.values()])
  const used = new Map([...asked.keys()].map((key, at) => [key, read[at] ?? 0]))
  const isAsked = new Set(limited)
  return (call) => {
    if (!isAsked.has(call)) return null
    const refusal = refusalOf(inside, call, used)
    if (refusal === null)
      for (const { by, ...counted } of needed(call)) used.set(keyOf(counted), (used.get(keyOf(counted)) ?? 0) + by)
    return refusal
  }
}

/** Why a limit would refuse the call now; null if none would. */
export function* refusalNow(inside: MailInside, call: Acceptance): Work<Refusal | null> {
  return (yield* readLimits(inside, [call]))(call)
}

function refusalOf(inside: MailInside, call: Acceptance, used: ReadonlyMap<string, number>): Refusal | null {
  const { organizationId, count, limit } = call.volume
  const plan = inside.planOf(organizationId)
  for (const { by, ...counted } of needed(call)) {
    const present = used.get(keyOf(counted)) ?? 0
    if (counted.counter === 'volume') {
      if (count > 0 && limit !== UNLIMITED && present + by > limit) return { kind: 'volume_exceeded', used: present }
      continue
    }
    const name = LIMIT_OF[counted.counter]
    const most = plan[PLAN_LIMITS[name].of]
    if (by > 0 && most !== UNLIMITED && present + by > most) return reached(name, most, present)
  }
  return null
}

const reached = (name: LimitName, limit: number, used: number): LimitReached => ({ kind: 'limit', name, limit, used })

const LIMIT_OF = {
  test_messages: 'test_messages_per_month',
  scheduled_messages: 'scheduled_messages',
  stored_bytes: 'stored_bytes',
} as const satisfies Partial<Record<Counted['counter'], LimitName>>

/** What a call would use, in the order in which the limits are asked. */
function needed({ accepted, volume, record }: Acceptance): (Counted & { counter: Asked; by: number })[] {
  const { organizationId, month, count } = volume
  const { tests, scheduled } = needsOf(accepted)
  return [
    { organizationId, counter: 'volume', period: month, by: count },
    { organizationId, counter: 'test_messages', period: month, by: tests },
    { organizationId, counter: 'scheduled_messages', period: '', by: scheduled },
    { organizationId, counter: 'stored_bytes', period: '', by: bytesOf(accepted, record) },
  ]
}

type Asked = 'volume' | keyof typeof LIMIT_OF

const countersOf = (call: Acceptance): Counted[] => needed(call).map(({ by: _, ...counted }) => counted)

/** True if a limit could refuse the call. */
export function isLimited({ planOf }: MailInside, { accepted, volume }: Acceptance): boolean {
  if (volume.count > 0 && volume.limit !== UNLIMITED) return true
  const { testMessagesPerMonth, scheduledMessages, storedBytes } = planOf(volume.organizationId)
  if (storedBytes !== UNLIMITED) return true
  if (testMessagesPerMonth === UNLIMITED && scheduledMessages === UNLIMITED) return false
  const { tests, scheduled } = needsOf(accepted)
  return (tests > 0 && testMessagesPerMonth !== UNLIMITED) || (scheduled > 0 && scheduledMessages !== UNLIMITED)
}

/** Text that is the same for the same counter. */
export const keyOf = ({ organizationId, counter, period }: Counted) => `${organizationId} ${counter} ${period}`

/** What messages use of a plan's limits, besides the monthly volume and the bytes. */
interface Needs {
  /** Recipients of test mail. */
  tests: number
  scheduled: number
}

export function needsOf(accepted: readonly AcceptedMessage[]): Needs {
  const needs: Needs = { tests: 0, scheduled: 0 }
  for (const { message, deliveries } of accepted) {
    if (message.mode === 'test') needs.tests += deliveries.length
    if (message.status === 'scheduled') needs.scheduled++
  }
  return needs
}

/** Bytes that messages and the stored answer count. */
export function bytesOf(accepted: readonly AcceptedMessage[], record: Remember | undefined): number {
  return accepted.reduce((sum, { message, deliveries }) => {
    const { sizeBytes, metadata, subject } = message
    return sum + messageStoredBytes(sizeBytes, deliveries.length, JSON.stringify(metadata), subject)
  }, record?.body.byteLength ?? 0)
}
