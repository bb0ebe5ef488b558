import type { ComponentChildren } from 'preact'
import { get, type Json, type Paged } from '../../kit/api.ts'
import { useLoad, usePages } from '../../kit/load.ts'
import { Choice, Empty, FilterChips, Filters, Time, withBreaks } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href, place, setQuery } from '../../kit/router.ts'
import { Chip } from '../../kit/status.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { ACTIONS, wordsOf } from './audit-words.ts'

/** Administrative actions in the selected organization, newest first, each as a sentence. `?resource=` is a record: only the
 *  changes of it. */
export function AuditLog() {
  const { action = '', actor = '', resource = '' } = place.value.query
  const pages = usePages('/v1/audit-log', { action, actor_id: actor, resource_id: resource, limit: '50' })
  const names = useNames().data
  const people = [...(names ?? [])].filter(([id]) => /^(?:usr|key)_/.test(id))
  return (
    <div class="stack">
      <p class="muted">Entries are kept for one year.</p>
      <Filters>
        <Choice
          name="Who"
          value={actor}
          options={[
            ['', 'Anyone'],
            ['operator', 'Command line'],
            ...people.map(([id, { name, kind }]) => [id, kind === 'api_key' ? `Key ${name}` : name] as const),
          ]}
          onChange={(actor) => setQuery({ actor })}
        />
        <Choice
          name="Action"
          value={action}
          options={[['', 'Any action'], ...ACTIONS.map(([id, words]) => [id, capital(words)] as const)]}
          onChange={(action) => setQuery({ action })}
        />
      </Filters>
      {resource !== '' && (
        <FilterChips
          filters={[['resource', `Changes of ${names?.get(resource)?.name ?? resource}`]]}
          onRemove={() => setQuery({ resource: '' })}
        />
      )}
      <Table
        name="Audit log"
        columns={columnsOf(names ?? new Map())}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No entries match" />}
      />
      <Pager pages={pages} />
    </div>
  )
}

/** A record that entries name. */
interface Named {
  name: string
  kind: string
  link: string
}

/** Lists of records with names: the operation that reads each, its path, and the page of a record. */
const LISTS = [
  ['domains_list', '/v1/domains', (id: string) => href(`/domains/${id}`)],
  ['api_keys_list', '/v1/api-keys', () => href('/api-keys')],
  ['webhooks_list', '/v1/webhooks', (id: string) => href(`/webhooks/${id}`)],
  ['templates_list', '/v1/templates', (id: string) => href(`/templates/${id}`)],
  ['inbound_routes_list', '/v1/inbound-routes', () => href('/inbound', { tab: 'routes' })],
  ['users_list', '/v1/users', () => href('/users')],
] as const

/** Names of the records that exist and that the user may read, by ID. Entries of others show the ID. */
const useNames = () =>
  useLoad(async (signal): Promise<Map<string, Named>> => {
    const all = LISTS.filter(([operation]) => may(operation)).map(async ([operation, path, linkOf]) => {
      const { data } = await get<Paged>(path, { limit: 100 }, signal)
      const kind = operation.replace(/s_list$/, '')
      return data.map(({ id, name, email, url }): [string, Named] => {
        return [id, { name: name || email || url || id, kind, link: linkOf(id) }]
      })
    })
    return new Map((await Promise.all(all)).flat())
  }, [])

/** `Ann created API key Shop backend`. A user is named by the address that the entry stores, or by the present name. */
function sentenceOf(entry: Json, names: ReadonlyMap<string, Named>): ComponentChildren {
  const { actor, action, resource_id: id, created_id } = entry
  const record = names.get(created_id) ?? names.get(id)
  return (
    <span class="wrapped">
      <strong>
        <bdi>{withBreaks(whoOf(actor, names))}</bdi>
      </strong>{' '}
      {wordsOf(action)}{' '}
      {record ? (
        <a href={record.link}>
          <bdi>{withBreaks(record.name)}</bdi>
        </a>
      ) : (
        id !== null && id !== actor.id && <span class="mono small muted">{id}</span>
      )}
    </span>
  )
}

function whoOf({ type, id, name }: Json, names: ReadonlyMap<string, Named>): string {
  if (type === 'server') return 'The server'
  if (type === 'operator') return `${name} (command line)`
  return type === 'user' ? (names.get(id)?.name ?? name) : `Key ${name}`
}

const columnsOf = (names: ReadonlyMap<string, Named>): Column<Json>[] => [
  { name: 'What', phone: 'top-left', show: (entry) => sentenceOf(entry, names) },
  {
    name: 'Fields',
    width: '20%',
    isExtra: true,
    phone: 'sub',
    show: ({ fields }) => <span class="muted small">{fields.join(', ')}</span>,
  },
  {
    name: 'From',
    width: '130px',
    isExtra: true,
    show: ({ ip_address, actor }) => ip_address ?? (actor.type === 'server' ? '' : 'Command line'),
  },
  {
    name: 'Outcome',
    width: '130px',
    phone: 'last',
    show: ({ outcome }) => outcome !== 'done' && <Chip word={outcome} tone={toneOf(outcome)} />,
  },
  { name: 'Time', width: '124px', phone: 'end', show: ({ created_at }) => <Time at={created_at} /> },
]

const toneOf = (outcome: string) => (outcome === 'repeated' ? 'quiet' : 'warn')
const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
