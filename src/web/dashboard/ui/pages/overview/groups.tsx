import { get, type Json } from '../../kit/api.ts'
import { number, percent } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { ErrorNotice, Segments } from '../../kit/pieces.tsx'
import { href, place, setQuery } from '../../kit/router.ts'
import { mode } from '../../kit/state.ts'
import { HOURS, periodOf, type Range } from './range.ts'

/** Counts of the range by stream, domain or tag. */
export function Groups({ range, everyMs }: { range: Range; everyMs: number }) {
  const by = GROUPINGS.find(([id]) => id === place.value.query.by)?.[0] ?? 'stream'
  const query = { ...periodOf(range), mode: mode.value, group_by: by }
  const { data, error, reload } = useLoad((signal) => get('/v1/stats', query, signal), [range, by], { everyMs })
  return (
    <section class="card stack" aria-labelledby="breakdown">
      <div class="row apart">
        <h2 id="breakdown">Breakdown</h2>
        <Segments name="Group by" options={GROUPINGS} chosen={by} onChoose={(id) => setQuery({ by: id })} />
      </div>
      <ErrorNotice error={error} onRetry={reload} />
      {data?.groups.length === 0 && <p class="muted">No messages in this time</p>}
      {data?.groups.length > 0 && <GroupTable by={by} stats={data} range={range} />}
    </section>
  )
}

const GROUPINGS = [
  ['stream', 'Stream'],
  ['domain', 'Domain'],
  ['tag', 'Tag'],
] as const
type Grouping = (typeof GROUPINGS)[number][0]

const COLUMNS: readonly (readonly [name: string, field: string, rate?: string])[] = [
  ['Sent', 'accepted'],
  ['Delivered', 'delivered', 'delivery_rate'],
  ['Bounced', 'bounced', 'bounce_rate'],
  ['Complaints', 'complained', 'complaint_rate'],
  ['Opened', 'unique_opened', 'open_rate'],
]

function GroupTable({ by, stats: { groups, other }, range }: { by: Grouping; stats: Json; range: Range }) {
  const rows: Json[] = other === null ? groups : [...groups, { ...other, name: 'All others' }]
  const heading = GROUPINGS.find(([id]) => id === by)?.[1]
  return (
    <table class="plain cards">
      <caption class="hidden">Recipients by {by}</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          {COLUMNS.map(([name]) => (
            <th key={name} scope="col" class="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((group) => (
          <tr key={group.key ?? ''}>
            <td data-label={heading} class="break">
              <Name by={by} of={group} range={range} />
            </td>
            {COLUMNS.map(([name, field, rate]) => (
              <td key={name} data-label={name} class="num">
                <span>
                  {number(group[field])}
                  {rate && group[field] > 0 && <span class="muted"> {percent(group[rate], 1)}</span>}
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Name({ by, of: { key, name }, range }: { by: Grouping; of: Json; range: Range }) {
  if (key === undefined || by === 'stream') return name
  if (by === 'tag') return <a href={href('/messages', { tag: key, since: String(HOURS[range]) })}>{name}</a>
  return name === null ? <span class="muted">Removed domain</span> : <a href={href(`/domains/${key}`)}>{name}</a>
}
