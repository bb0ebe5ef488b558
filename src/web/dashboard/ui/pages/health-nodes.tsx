import { get, type Json } from '../kit/api.ts'
import { ago, bytes, duration, number, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Facts } from '../kit/pieces.tsx'
import { Chip, type Tone } from '../kit/status.tsx'
import { type Column, PlainTable } from '../kit/table.tsx'

/** Nodes of an installation on PostgreSQL, and its database. Nothing with SQLite. */
export function Nodes() {
  const { data, error, reload } = useLoad((signal) => get('/v1/nodes', {}, signal), [], { everyMs: 5_000 })
  if (!data) return <ErrorNotice error={error} onRetry={reload} />
  if (data.database === null) return null
  return (
    <>
      <section class="card stack" aria-labelledby="nodes">
        <h2 id="nodes">Nodes</h2>
        <ErrorNotice error={error} onRetry={reload} />
        <PlainTable<Json> name="Nodes" columns={COLUMNS} rows={data.data} keyOf={({ name }) => name} />
      </section>
      <section class="card stack" aria-labelledby="database">
        <h2 id="database">PostgreSQL</h2>
        <Facts of={factsOf(data.database)} />
      </section>
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'Name',
    show: ({ name, hostname }) => (
      <>
        <div>{name}</div>
        {hostname !== name && <div class="muted small">{hostname}</div>}
      </>
    ),
  },
  {
    name: 'State',
    show: ({ state }) => <Chip word={STATES[state]?.[0] ?? state} tone={STATES[state]?.[1] ?? 'quiet'} />,
  },
  { name: 'Version', show: ({ version }) => version },
  { name: 'Last seen', show: ({ seen_at }) => <time title={when(seen_at)}>{ago(seen_at)}</time> },
  { name: 'In progress', isNumber: true, show: ({ in_progress }) => number(in_progress) },
]

const STATES: Record<string, [word: string, tone: Tone]> = {
  active: ['Active', 'good'],
  draining: ['Draining', 'warn'],
  silent: ['No contact', 'bad'],
  ended: ['Ended', 'bad'],
}

function factsOf(database: Json): [string, string][] {
  const { version, size_bytes, connections, max_connections, round_trip_ms, oldest_transaction_seconds } = database
  return [
    ['Version', version],
    ['Size', bytes(size_bytes)],
    ['Connections', `${number(connections)} of ${number(max_connections)}`],
    ['Round trip', `${round_trip_ms.toFixed(1)} ms`],
    ['Oldest transaction', oldest_transaction_seconds === null ? 'None' : duration(oldest_transaction_seconds * 1_000)],
    ['Standbys', database.standbys.map(standbyText).join(', ') || 'None'],
  ]
}

function standbyText({ name, is_synchronous, lag_ms }: Json): string {
  const notes = [is_synchronous && 'synchronous', lag_ms !== null && `${duration(lag_ms)} behind`].filter(Boolean)
  return `${name ?? 'Standby'}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}
