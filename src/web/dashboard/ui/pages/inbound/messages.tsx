import { get, type Json, type Paged } from '../../kit/api.ts'
import { useLoad, usePages } from '../../kit/load.ts'
import { Choice, Empty, Filters, Time } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href, place, setQuery, setSearch } from '../../kit/router.ts'
import { Chip } from '../../kit/status.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { VerdictsInShort } from './verdicts.tsx'

/** Inbound messages, newest first. */
export function InboundMessages() {
  const { q = '', status = '', route = '' } = place.value.query
  const pages = usePages('/v1/inbound-messages', { q, status, route_id: route }, { everyMs: 5_000 })
  const hasRoutes = may('inbound_routes_list')
  const routes = useLoad(
    async (signal) => (hasRoutes ? get<Paged>('/v1/inbound-routes', { limit: 100 }, signal) : NO_ROUTES),
    [hasRoutes],
  )
  const options = (routes.data?.data ?? []).map(({ id, name }: Json) => [id, name] as const)
  const isFiltered = q !== '' || status !== '' || route !== ''
  return (
    <>
      <Filters search={q} onSearch={(q) => setSearch({ q })} placeholder="Search by sender or recipient">
        <Choice name="Status" value={status} options={STATUSES} onChange={(status) => setQuery({ status })} />
        {hasRoutes && (
          <Choice
            name="Route"
            value={route}
            options={[['', 'Any route'], ...options]}
            onChange={(route) => setQuery({ route })}
          />
        )}
      </Filters>
      <Table
        name="Inbound messages"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/inbound/${id}`)}
        whenEmpty={
          isFiltered ? (
            <Empty name="No messages match" />
          ) : (
            <Empty name="No inbound messages yet">
              <p>
                To receive mail, create a route, point the domain’s MX record to this server, and enable{' '}
                <code>[smtp.inbound]</code> in the config.
              </p>
              {hasRoutes && (
                <a class="button primary" href={href('/inbound', { tab: 'routes' })}>
                  View routes
                </a>
              )}
            </Empty>
          )
        }
      />
      <Pager pages={pages} />
    </>
  )
}

const NO_ROUTES = { data: [] }
const STATUSES = [
  ['', 'Any status'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const

const COLUMNS: Column<Json>[] = [
  {
    name: 'Subject',
    phone: 'sub',
    show: ({ id, subject }) => (
      <a class="ellipsis" href={href(`/inbound/${id}`)} dir="auto">
        {subject || '(no subject)'}
      </a>
    ),
  },
  {
    name: 'From and to',
    width: '32%',
    phone: 'top-left',
    show: ({ from, return_path, to }) => (
      <>
        <bdi>{from || return_path || '(empty)'}</bdi>{' '}
        <span class="muted">
          to <bdi>{to.join(', ')}</bdi>
        </span>
      </>
    ),
  },
  { name: 'Checks', width: '20%', isExtra: true, show: (message) => <VerdictsInShort of={message} /> },
  { name: 'Status', width: '110px', phone: 'last', show: ({ status }) => <Chip word={status} /> },
  { name: 'Received', width: '124px', phone: 'end', show: ({ created_at }) => <Time at={created_at} /> },
]
