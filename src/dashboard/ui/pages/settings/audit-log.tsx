import type { Json } from '../../kit/api.ts'
import { when } from '../../kit/format.ts'
import { usePages } from '../../kit/load.ts'
import { Choice, Empty, Filters } from '../../kit/pieces.tsx'
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
  { name: 'Time', show: ({ created_at }) => when(created_at) },
  {
    name: 'Actor',
    show: ({ actor }) => `${ACTOR_WORDS[actor.type] ?? 'Key'} ${actor.name}`,
  },
  { name: 'Action', show: ({ action }) => <span class="mono">{action}</span> },
  { name: 'Resource', show: ({ resource_id }) => <span class="mono break small">{resource_id}</span> },
  { name: 'Source', show: ({ ip_address }) => ip_address ?? 'Command line' },
  { name: 'Outcome', show: ({ outcome }) => <Chip word={outcome} tone={toneOfOutcome(outcome)} /> },
]

const toneOfOutcome = (outcome: string): Tone => (outcome === 'done' || outcome === 'repeated' ? 'good' : 'warn')
