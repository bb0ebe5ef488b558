import type { Json } from '../../kit/api.ts'
import { usePages } from '../../kit/load.ts'
import { Choice, Empty, Filters, Time } from '../../kit/pieces.tsx'
import { place, setQuery } from '../../kit/router.ts'
import { organization } from '../../kit/state.ts'
import { Chip, type Tone } from '../../kit/status.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'

/** Administrative actions in the selected organization, newest first. */
export function AuditLog() {
  const { action = '', actor = '' } = place.value.query
  const pages = usePages('/v1/audit-log', { action: action || undefined, actor_id: actor || undefined, limit: '50' })
  return (
    <div class="stack">
      <p class="muted">Administrative actions for {organization.value?.name}. Entries are kept for one year.</p>
      <Filters
        search={action}
        onSearch={(action) => setQuery({ action })}
        placeholder="Action, such as api_keys_create"
      >
        <Choice name="Actor" value={actor} options={ACTORS} onChange={(actor) => setQuery({ actor })} />
      </Filters>
      <Table
        name="Audit log"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No entries match" />}
      />
      <Pager pages={pages} />
    </div>
  )
}

const ACTORS = [
  ['', 'Any actor'],
  ['operator', 'Operator'],
] as const

const ACTOR_WORDS: Record<string, string> = { operator: 'Operator', user: 'User', server: 'Server' }

const COLUMNS: Column<Json>[] = [
  { name: 'Time', width: '110px', phone: 'end', show: ({ created_at }) => <Time at={created_at} /> },
  {
    name: 'Actor',
    width: '16%',
    phone: 'sub',
    show: ({ actor }) => `${ACTOR_WORDS[actor.type] ?? 'Key'} ${actor.name}`,
  },
  { name: 'Action', width: '22%', phone: 'top-left', show: ({ action }) => <span class="mono">{action}</span> },
  { name: 'Resource', show: ({ resource_id }) => <span class="mono small">{resource_id}</span> },
  { name: 'Source', width: '130px', isExtra: true, show: ({ ip_address }) => ip_address ?? 'Command line' },
  {
    name: 'Outcome',
    width: '160px',
    phone: 'last',
    show: ({ outcome }) => <Chip word={outcome} tone={toneOfOutcome(outcome)} />,
  },
]

const toneOfOutcome = (outcome: string): Tone => (outcome === 'done' || outcome === 'repeated' ? 'good' : 'warn')
