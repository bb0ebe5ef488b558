import { useState } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { Chart } from '../kit/chart.tsx'
import { number, when } from '../kit/format.ts'
import { Facts, Segments } from '../kit/pieces.tsx'
import { Chip, type Tone } from '../kit/status.tsx'
import { type Column, PlainTable } from '../kit/table.tsx'

/** The warm-up of a sending address: today's numbers of each destination group, and plan against actual by day. `warmup`
 *  is that of `GET /v1/sending-addresses`; null shows nothing. Times of the plan are in UTC. */
export function Warmup({ address, warmup }: { address: string; warmup: Json | null }) {
  if (warmup === null) return null
  const { plan, day, plan_days, started_on, groups } = warmup
  const id = `warmup-${address}`
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id} class="break">
        Warm-up of {address}
      </h2>
      <Facts
        of={[
          ['Plan', PLANS[plan] ?? plan],
          [day === 0 ? 'Starts' : 'Started', started_on],
          ['Day', day === 0 ? 'Not started' : `${day} of ${plan_days}`],
        ]}
      />
      <PlainTable name="Destination groups today" columns={GROUPS} rows={groups} keyOf={({ group }) => group} />
      <History groups={groups} />
    </section>
  )
}

/** A day alone makes no line. */
function History({ groups }: { groups: readonly Json[] }) {
  const drawn = groups.filter(({ days }) => days.length > 1)
  const [chosen, setChosen] = useState<string>()
  const shown = drawn.find(({ group }) => group === chosen) ?? drawn[0]
  if (shown === undefined) return <p class="muted small">The chart starts on the second day.</p>
  const { group, days } = shown
  const valuesOf = (name: 'planned' | 'sent') => days.map((each: Json): number => each[name])
  return (
    <div class="stack tight">
      <Segments
        name="Destination group"
        options={drawn.map((each) => [each.group, NAMES[each.group] ?? each.group] as const)}
        chosen={group}
        onChoose={setChosen}
      />
      <Chart
        name={`Plan and messages sent to ${NAMES[group] ?? group} by day`}
        times={days.map(({ day }: Json) => Date.parse(day))}
        lines={[
          { name: 'Plan', colour: '--muted', values: valuesOf('planned') },
          { name: 'Sent', colour: '--accent', values: valuesOf('sent') },
        ]}
        label={(at) => new Date(at).toISOString().slice(0, 10)}
        isStacked={false}
        heightPx={160}
        format={(mails) => number(Math.round(mails))}
      />
    </div>
  )
}

const PLANS: Record<string, string> = { standard: 'Standard', slow: 'Slow' }
const NAMES: Record<string, string> = {
  google: 'Google',
  microsoft: 'Microsoft',
  yahoo: 'Yahoo',
  apple: 'Apple',
  others: 'Others',
}
const STATES: Record<string, [word: string, tone: Tone]> = {
  on_plan: ['On plan', 'calm'],
  held: ['Held', 'bad'],
  stepped_back: ['Stepped back', 'warn'],
  finished: ['Finished', 'good'],
}
const GROUPS: Column<Json>[] = [
  { name: 'Group', show: ({ group }) => NAMES[group] ?? group },
  {
    name: 'State',
    show: ({ state, held_until }) => (
      <>
        <Chip word={STATES[state]?.[0] ?? state} tone={STATES[state]?.[1]} />
        {held_until !== null && <div class="muted small">until {when(held_until)}</div>}
      </>
    ),
  },
  { name: 'Plan day', isNumber: true, show: ({ day }) => number(day) },
  { name: 'Sent', isNumber: true, show: ({ sent }) => number(sent) },
  { name: 'Allowed', isNumber: true, show: ({ allowance }) => (allowance === null ? 'No limit' : number(allowance)) },
  { name: 'Deferred', isNumber: true, show: ({ deferred }) => number(deferred) },
  { name: 'Blocked', isNumber: true, show: ({ blocked }) => number(blocked) },
  { name: 'Complaints', isNumber: true, show: ({ complaints }) => number(complaints) },
]
