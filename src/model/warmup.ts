import type { DestinationGroup } from './destination-group.ts'
import { COUNTED_AGAINST, STEP_BACK_DAYS, WARMUP_DAYS, WARMUP_THRESHOLDS, type WarmupPlan } from './warmup-plan.ts'

/** The warm-up of a sending address; `startedOn` is the UTC date of its first day. */
export interface Warmup {
  startedOn: string
  plan: WarmupPlan
}

/** A destination group of an address on a day (days since 1970, UTC). */
export interface WarmupKey {
  address: string
  group: DestinationGroup
  day: number
}

/** What a group got from an address on a day. `sent` counts attempts before they start, the others their results. */
export interface WarmupCounts {
  sent: number
  delivered: number
  deferred: number
  blocked: number
  complaints: number
}

export type WarmupDay = WarmupKey & WarmupCounts

export const WARMUP_STATES = ['on_plan', 'held', 'stepped_back', 'finished'] as const

/** Where a group is on the plan of its address. */
export interface Standing {
  state: (typeof WARMUP_STATES)[number]
  /** Day of the plan, from 1; 0 before the first day. Behind the calendar after bad days. */
  day: number
  /** Mails that today allows in total; null without a limit. */
  allowance: number | null
  /** Until when nothing more is sent (ms UTC); null unless `held`. */
  heldUntil: number | null
  today: WarmupCounts
  /** Each day so far, oldest first: what the plan allowed, and what was sent. */
  days: { day: number; planned: number; sent: number }[]
}

const DAY_MS = 86_400_000
const NOTHING: WarmupCounts = { sent: 0, delivered: 0, deferred: 0, blocked: 0, complaints: 0 }

/** Time (ms UTC) → its day. */
export const dayOf = (time: number): number => Math.floor(time / DAY_MS)
/** Day → the time at which it starts (ms UTC). */
export const startOfDay = (day: number): number => day * DAY_MS
export const firstDayOf = ({ startedOn }: Warmup): number => dayOf(Date.parse(startedOn))

/** A warm-up and the recorded days of one address and group, in any order → where the group is today. It follows from
 *  what was recorded alone, so every node and every restart finds the same. A good day, also one without mail, goes one
 *  day on; a bad one (warmup-plan.ts) ends the sending for the day and repeats it, or goes some days back. Days after
 *  `today` do not count: the clock was ahead. */
export function standingOf(warmup: Warmup, recorded: readonly WarmupDay[], today: number): Standing {
  const plan = WARMUP_DAYS[warmup.plan]
  const byDay = new Map(recorded.map((each) => [each.day, each]))
  const days: Standing['days'] = []
  let position = 0
  let furthest = 0
  const first = firstDayOf(warmup)
  for (let day = first; day < today && position < plan.length; day++) {
    const counts = byDay.get(day) ?? NOTHING
    days.push({ day, planned: plan[position]!, sent: counts.sent })
    furthest = Math.max(furthest, position)
    const verdict = judgeDay(counts)
    if (verdict === 'good') position++
    else if (verdict === 'step_back') position = Math.max(0, position - STEP_BACK_DAYS)
  }
  const counts = countsOf(byDay.get(today))
  const none = { heldUntil: null, today: counts, days }
  if (today < first) return { ...none, state: 'held', day: 0, allowance: 0, heldUntil: startOfDay(first) }
  const planned = plan[position]
  if (planned === undefined) return { ...none, state: 'finished', day: plan.length, allowance: null }
  days.push({ day: today, planned, sent: counts.sent })
  const here = { ...none, day: position + 1, allowance: planned }
  if (judgeDay(counts) !== 'good') return { ...here, state: 'held', heldUntil: startOfDay(today + 1) }
  return { ...here, state: position < furthest ? 'stepped_back' : 'on_plan' }
}

/** What a day's counts mean for the plan. */
function judgeDay(counts: WarmupCounts): 'good' | 'hold' | 'step_back' {
  let verdict: ReturnType<typeof judgeDay> = 'good'
  for (const name of COUNTED_AGAINST) {
    const { least, hold, leastBack, stepBack } = WARMUP_THRESHOLDS[name]
    const share = counts[name] / Math.max(1, counts.sent)
    if (counts[name] < least || share <= hold) continue
    if (share > stepBack && counts[name] >= leastBack) return 'step_back'
    verdict = 'hold'
  }
  return verdict
}

const STEP_MS = 300_000
const STEPS = DAY_MS / STEP_MS
/** Steps whose share is there at the start of the day, so that the last of the allowance is, one hour before its end. */
const AHEAD = 12

/** A day's allowance → how many of its mails may have been sent by `time`, and when (ms UTC) there are more: every five
 *  minutes the same part, with that of one hour at once. */
export function releasedBy(allowance: number, time: number): { mails: number; nextAt: number } {
  const step = Math.floor((time - startOfDay(dayOf(time))) / STEP_MS)
  const mails = Math.ceil((allowance * Math.min(STEPS, step + AHEAD)) / STEPS)
  return { mails, nextAt: startOfDay(dayOf(time)) + (step + 1) * STEP_MS }
}

const countsOf = ({ sent, delivered, deferred, blocked, complaints }: WarmupCounts = NOTHING): WarmupCounts => ({
  sent,
  delivered,
  deferred,
  blocked,
  complaints,
})
