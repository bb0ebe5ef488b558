import { useState } from 'preact/hooks'
import { get, type Json, type Paged, patch, remove, selected } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { Empty } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { amendQuery, href, place } from '../../kit/router.ts'
import { Chip } from '../../kit/status.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { attempt } from '../../kit/toast.tsx'
import { Secret } from '../webhooks/secret.tsx'
import { Matcher } from './matcher.tsx'
import { MxLines } from './mx-line.tsx'
import { inOrder, prioritiesAfterMove } from './order.ts'
import { CreateRoute, EditRoute } from './route-form.tsx'

/** Inbound routes in matching order, which the user changes by dragging, with arrow keys or in the menu of a route; and a
 *  form to test an address. */
export function Routes() {
  const loaded = useLoad(async (signal) => inOrder(await allRoutes(signal)), [])
  const isCreating = place.value.query.create !== undefined
  const setCreating = (is: boolean) => amendQuery({ create: is ? 'yes' : '' })
  const [created, setCreated] = useState<Json>()
  const { data, reload } = loaded
  const edited = data?.find(({ id }) => id === place.value.query.edit)
  const closeEdit = () => amendQuery({ edit: '' })

  const toggle = ({ id, name, enabled }: Json) =>
    attempt(
      async () => {
        await patch(`/v1/inbound-routes/${id}`, { enabled: !enabled })
        reload()
      },
      enabled ? `${name} disabled` : `${name} enabled`,
    )
  const [isMoving, setMoving] = useState(false)
  const mayMove = may('inbound_routes_update') && (data?.length ?? 0) > 1
  const move = async (from: number, to: number) => {
    const route = data?.[from]
    // Until the new order is loaded, the numbers of the old one would move the wrong routes.
    if (data === undefined || route === undefined || isMoving || loaded.isLoading) return
    if (from === to || to < 0 || to >= data.length) return
    setMoving(true)
    const headers = selected()
    await attempt(
      async () => {
        for (const [id, priority] of prioritiesAfterMove(data, from, to))
          await patch(`/v1/inbound-routes/${id}`, { priority }, { headers })
      },
      `${route.name} is now number ${to + 1}`,
    )
    reload()
    setMoving(false)
  }
  const drop = async ({ id, name }: Json) => {
    const count = await recentMessages(id)
    const isSure = await confirm({
      name: `Delete ${name}?`,
      text: `${countText(count)}Its mail goes to the next route that matches, or is rejected. Stored messages are kept. Pending webhook deliveries are cancelled.`,
      action: 'Delete route',
      isDangerous: true,
      typed: count > 0 ? name : '',
    })
    if (isSure && (await attempt(() => remove(`/v1/inbound-routes/${id}`), `${name} deleted`))) reload()
  }
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create route
    </button>
  )
  const columns: Column<Json>[] = [
    { name: 'Name', width: '28%', phone: 'top-left', show: (row) => <a href={linkOf(row)}>{row.name}</a> },
    {
      name: 'Recipients and action',
      phone: 'sub',
      show: ({ match, action }) => (
        <>
          {matchText(match)}
          <br />
          <span class="muted">{actionText(action)}</span>
          {action.type === 'forward' && <ForwardTargets of={action.config.to} />}
        </>
      ),
    },
    {
      name: 'Order',
      width: '92px',
      show: (row) => {
        const at = data?.indexOf(row) ?? 0
        return mayMove ? <Handle name={row.name} at={at} onMove={(to) => move(at, to)} /> : at + 1
      },
      isNumber: true,
    },
    {
      name: 'Status',
      width: '116px',
      phone: 'last',
      show: ({ enabled }) => <Chip word={enabled ? 'enabled' : 'disabled'} />,
    },
    {
      name: '',
      width: '52px',
      phone: 'end',
      show: (row) => (
        <Menu name={`Actions of ${row.name}`}>
          <MenuItem icon="pencil" onPress={() => amendQuery({ edit: row.id })}>
            Edit
          </MenuItem>
          {mayMove && (
            <>
              <MenuItem onPress={() => move(data?.indexOf(row) ?? 0, (data?.indexOf(row) ?? 0) - 1)}>Move up</MenuItem>
              <MenuItem onPress={() => move(data?.indexOf(row) ?? 0, (data?.indexOf(row) ?? 0) + 1)}>
                Move down
              </MenuItem>
            </>
          )}
          <MenuItem icon={row.enabled ? 'ban' : 'check'} onPress={() => toggle(row)}>
            {row.enabled ? 'Disable' : 'Enable'}
          </MenuItem>
          <MenuItem icon="trash" isDangerous onPress={() => drop(row)}>
            Delete
          </MenuItem>
        </Menu>
      ),
    },
  ]
  return (
    <div class="stack">
      {data !== undefined && data.length > 0 && (
        <div class="row apart">
          <div class="stack tight">
            <p class="muted">
              The first route that matches handles the message.{' '}
              {mayMove && 'To change the order, drag a number or use the menu of a route.'}
            </p>
            <MxLines routes={data} />
          </div>
          {create}
        </div>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the numbers in the rows are the controls */}
      <div
        onDragOver={(event) => rowAt(event) !== null && dragged !== null && event.preventDefault()}
        onDrop={(event) => {
          const to = rowAt(event)
          if (to === null || dragged === null) return
          event.preventDefault()
          void move(dragged, to)
        }}
      >
        <Table
          name="Inbound routes"
          columns={columns}
          loaded={loaded}
          keyOf={({ id }) => id}
          link={linkOf}
          whenEmpty={
            <Empty name="No routes yet">
              <p>A route selects recipients and defines what happens to their mail.</p>
              {create}
            </Empty>
          }
        />
      </div>
      {data !== undefined && data.length > 0 && <Matcher routes={data} />}
      {isCreating && (
        <CreateRoute
          onClose={() => setCreating(false)}
          onSaved={(route) => {
            setCreating(false)
            if (route.action.type === 'webhook') setCreated(route)
            reload()
          }}
        />
      )}
      {edited && (
        <EditRoute
          of={edited}
          onClose={closeEdit}
          onSaved={() => {
            closeEdit()
            reload()
          }}
        />
      )}
      {created && <Secret of={created} onClose={() => setCreated(undefined)} />}
    </div>
  )
}

/** The list with the form of a route open. */
const linkOf = ({ id }: Json) => href('/inbound', { tab: 'routes', edit: id })

/** Position of the route that is dragged; null while none is. Other pages cannot drag one in. */
let dragged: number | null = null

/** Position of the row below the pointer; null outside the rows. */
function rowAt({ target }: Event): number | null {
  const row = target instanceof Element ? target.closest<HTMLTableRowElement>('tr[data-row]') : null
  return row === null ? null : row.sectionRowIndex
}

/** The number of a route, which moves it: by dragging to another row, or with the arrow keys. */
function Handle({ name, at, onMove }: { name: string; at: number; onMove: (to: number) => void }) {
  return (
    <button
      type="button"
      class="tiny handle"
      draggable
      title="Drag, or press the arrow keys"
      aria-label={`Position of ${name}: ${at + 1}. Arrow up and down move it.`}
      onDragStart={(event) => {
        dragged = at
        event.dataTransfer?.setData('text/plain', name) // Firefox drags nothing without data
      }}
      onDragEnd={() => {
        dragged = null
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
        event.preventDefault()
        onMove(event.key === 'ArrowUp' ? at - 1 : at + 1)
      }}
    >
      {at + 1}
    </button>
  )
}

const DAYS = 30
const MOST_COUNTED = 100

/** Messages of the route in 30 days, at most 100; 0 if they cannot be counted. */
async function recentMessages(id: string): Promise<number> {
  const created_after = new Date(Date.now() - DAYS * 86_400_000).toISOString()
  const asked = get<Paged>('/v1/inbound-messages', { route_id: id, limit: MOST_COUNTED, created_after })
  return asked.then(({ data }) => data.length).catch(() => 0)
}

function countText(count: number): string {
  if (count === 0) return ''
  const most = count === MOST_COUNTED ? 'at least ' : ''
  return `It received ${most}${count} ${count === 1 ? 'message' : 'messages'} in ${DAYS} days. `
}

/** Every route: the place of one depends on all others. A plan has a thousand at most. */
async function allRoutes(signal: AbortSignal): Promise<Json[]> {
  const routes: Json[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Paged = await get('/v1/inbound-routes', { limit: 100, cursor }, signal)
    routes.push(...page.data)
    cursor = page.next_cursor
  }
  return routes
}

function matchText({ type, value }: Json): string {
  if (type === 'catch_all') return 'All addresses'
  return type === 'domain' ? `All addresses at ${value}` : value
}

/** One target per line. A chip marks those that do not receive mail yet. */
function ForwardTargets({ of: targets }: { of: Json[] }) {
  return (
    <ul class="plain-list break">
      {targets.map(({ email, status, is_stopped }) => (
        <li key={email}>
          {email} {status === 'pending' && <Chip word={is_stopped ? 'stopped' : 'pending'} />}
        </li>
      ))}
    </ul>
  )
}

function actionText({ type, config }: Json): string {
  if (type === 'store') return 'Store'
  return type === 'forward' ? 'Forward to' : `Post to ${config.url}`
}
