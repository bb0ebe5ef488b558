import type { Json } from '../../kit/api.ts'
import { when } from '../../kit/format.ts'
import { usePages } from '../../kit/load.ts'
import { Choice, Empty, Filters } from '../../kit/pieces.tsx'
import { ask, place } from '../../kit/router.ts'
import { organization } from '../../kit/state.ts'
import { Chip, type Tone } from '../../kit/status.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'

/** Who managed what in the organization that is chosen. */
export function AuditLog() {
  const { action = '', actor = '' } = place.value.query
  const pages = usePages('/v1/audit-log', { action: action || undefined, actor_id: actor || undefined, limit: '50' })
  return (
    <div class="stack">
      <p class="muted">Whoever managed something for {organization.value?.name}, kept for a year.</p>
      <Filters search={action} onSearch={(action) => ask({ action })} placeholder="Action, like api_keys_create">
        <Choice name="By" value={actor} options={ACTORS} onChange={(actor) => ask({ actor })} />
      </Filters>
      <Table
        name="Audit log"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="Nothing like that" />}
      />
      <Pager pages={pages} />
    </div>
  )
}

const ACTORS = [
  ['', 'By anybody'],
  ['operator', 'By the operator'],
] as const

const COLUMNS: Column<Json>[] = [
  { name: 'Time', show: ({ created_at }) => when(created_at) },
  { name: 'Who', show: ({ actor }) => (actor.type === 'operator' ? `operator, ${actor.name}` : `key ${actor.name}`) },
  { name: 'Action', show: ({ action }) => <span class="mono">{action}</span> },
  { name: 'About', show: ({ resource_id }) => <span class="mono break small">{resource_id}</span> },
  { name: 'From', show: ({ ip_address }) => ip_address ?? 'command line' },
  { name: 'Outcome', show: ({ outcome }) => <Chip word={outcome} tone={toneOfOutcome(outcome)} /> },
]

const toneOfOutcome = (outcome: string): Tone => (outcome === 'done' || outcome === 'repeated' ? 'good' : 'warn')
