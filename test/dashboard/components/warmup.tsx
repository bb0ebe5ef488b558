import { Warmup } from '../../../src/web/dashboard/ui/pages/warmup.tsx'

const PLANNED = [50, 63, 81, 102, 130, 165]

/** A group of which so many days are over; `change` is what differs from one on its plan. */
const group = (name: string, days: number, change: Record<string, unknown> = {}) => ({
  group: name,
  state: 'on_plan',
  day: days,
  allowance: PLANNED[days - 1],
  sent: 31,
  delivered: 30,
  deferred: 1,
  blocked: 0,
  complaints: 0,
  held_until: null,
  days: PLANNED.slice(0, days).map((planned, at) => ({
    day: `2026-11-${19 + at}`,
    planned,
    sent: at === days - 1 ? 31 : planned,
  })),
  ...change,
})

/** The part of the page of sending addresses that shows a warm-up: in progress, and on its first day. */
export function Warmups() {
  const held = { state: 'held', blocked: 3, held_until: '2026-11-25T00:00:00.000Z' }
  const groups = [
    group('google', 6),
    group('microsoft', 3, { state: 'stepped_back' }),
    group('yahoo', 6, held),
    group('apple', 6, { state: 'finished', allowance: null }),
    group('others', 6),
  ]
  const about = { plan: 'standard', started_on: '2026-11-19', plan_days: 30 }
  return (
    <>
      <Warmup address="192.0.2.1" warmup={{ ...about, day: 6, groups }} />
      <Warmup
        address="2001:db8:aaaa:bbbb:cccc:dddd:eeee:7"
        warmup={{ ...about, day: 1, groups: [group('google', 1)] }}
      />
      <Warmup address="192.0.2.2" warmup={null} />
    </>
  )
}
