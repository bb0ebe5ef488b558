import { useState } from 'preact/hooks'
import { get, type Json, type Paged, patch, remove } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { Empty } from '../../kit/pieces.tsx'
import { Chip } from '../../kit/status.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { attempt } from '../../kit/toast.tsx'
import { Secret } from '../webhooks/secret.tsx'
import { Matcher } from './matcher.tsx'
import { CreateRoute, EditRoute } from './route-form.tsx'

/** Inbound routes in matching order, with a form to test an address. */
export function Routes() {
  const loaded = useLoad(async (signal) => inOrder(await get<Paged>('/v1/inbound-routes', { limit: 100 }, signal)), [])
  const [isCreating, setCreating] = useState(false)
  const [edited, setEdited] = useState<Json>()
  const [created, setCreated] = useState<Json>()
  const { data, reload } = loaded

  const toggle = ({ id, name, enabled }: Json) =>
    attempt(
      async () => {
        await patch(`/v1/inbound-routes/${id}`, { enabled: !enabled })
        reload()
      },
      enabled ? `${name} disabled` : `${name} enabled`,
    )
  const drop = async ({ id, name }: Json) => {
    const isSure = await confirm({
      name: `Delete ${name}?`,
      text: 'Stored messages are kept. Pending webhook deliveries are cancelled.',
      action: 'Delete route',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/inbound-routes/${id}`), `${name} deleted`))) reload()
  }
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create route
    </button>
  )
  const columns: Column<Json>[] = [
    { name: 'Name', width: '28%', phone: 'top-left', show: ({ name }) => <strong>{name}</strong> },
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
    { name: 'Priority', width: '92px', show: ({ priority }) => priority, isNumber: true },
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
          <MenuItem icon="pencil" onPress={() => setEdited(row)}>
            Edit
          </MenuItem>
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
          <p class="muted">The first matching route handles the message.</p>
          {create}
        </div>
      )}
      <Table
        name="Inbound routes"
        columns={columns}
        loaded={loaded}
        keyOf={({ id }) => id}
        whenEmpty={
          <Empty name="No routes yet">
            <p>A route selects recipients and defines what happens to their mail.</p>
            {create}
          </Empty>
        }
      />
      {data !== undefined && data.length > 0 && <Matcher key={JSON.stringify(data)} routes={data} />}
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
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined)
            reload()
          }}
        />
      )}
      {created && <Secret of={created} onClose={() => setCreated(undefined)} />}
    </div>
  )
}

const RANKS = ['address', 'pattern', 'domain', 'catch_all']

/** Matching order: highest priority first, then the most specific match. */
function inOrder({ data }: Paged): Json[] {
  const rank = ({ match }: Json) => RANKS.indexOf(match.type)
  return data.toSorted((a, b) => b.priority - a.priority || rank(a) - rank(b))
}

function matchText({ type, value }: Json): string {
  if (type === 'catch_all') return 'All addresses'
  return type === 'domain' ? `All addresses at ${value}` : value
}

/** One target per line. A chip marks those that do not receive mail yet. */
function ForwardTargets({ of: targets }: { of: Json[] }) {
  return (
    <ul class="plain-list">
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
