import { useState } from 'preact/hooks'
import { get, type Json, type Paged, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { ago, duration, msSince, when } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { amendQuery, place } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt } from '../kit/toast.tsx'
import { CreateKey, EditKey, RotateKey } from './api-keys/forms.tsx'
import { KeyValue } from './api-keys/value.tsx'

type OpenDialog = { kind: 'edit' | 'rotate' | 'value'; key: Json }

/** API keys. The page shows the value of a key once, after it was created. */
export default function ApiKeysPage() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const pages = usePages('/v1/api-keys', {})
  const close = () => {
    setDialog(null)
    amendQuery({ create: '' })
  }
  const showValue = (key: Json) => {
    setDialog({ kind: 'value', key })
    pages.reload()
  }
  const revoke = async (key: Json) => {
    const isSure = await confirm({
      name: `Revoke ${key.name}?`,
      text: `Requests with ${key.prefix}… fail immediately. To give your apps time to switch, rotate the key instead.`,
      action: 'Revoke',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/api-keys/${key.id}`), `${key.name} revoked`))) pages.reload()
  }
  const create = may('api_keys_create') && (
    <button type="button" class="primary" onClick={() => amendQuery({ create: 'yes' })}>
      Create API key
    </button>
  )
  const makers = useMakers().data
  const columns: Column<Json>[] = [
    {
      name: 'Name',
      width: '28%',
      phone: 'top-left',
      show: ({ name, prefix, mode }) => (
        <>
          <bdi class="strong">{name}</bdi> {mode === 'test' && <Chip word="test" />}
          <div class="mono small muted">{prefix}…</div>
        </>
      ),
      by: ({ name }) => name,
    },
    {
      name: 'Access',
      phone: 'sub',
      show: (key) => (
        <>
          {accessOf(key)}
          <Networks of={key} />
        </>
      ),
      by: accessOf,
    },
    {
      name: 'Created by',
      width: '18%',
      isExtra: true,
      show: ({ created_by }) => <Maker id={created_by} names={makers} />,
    },
    { name: 'Last used', width: '130px', phone: 'last', show: (key) => <LastUse of={key} /> },
    { name: 'Ends', width: '150px', isExtra: true, show: (key) => <End of={key} /> },
    {
      name: '',
      width: '60px',
      phone: 'end',
      show: (key) =>
        endOf(key) === null && (
          <Menu name={`Actions of ${key.name}`}>
            <MenuItem icon="settings" onPress={() => setDialog({ kind: 'edit', key })}>
              Edit
            </MenuItem>
            <MenuItem icon="rotate-cw" onPress={() => setDialog({ kind: 'rotate', key })}>
              Rotate
            </MenuItem>
            <MenuItem icon="trash" isDangerous onPress={() => revoke(key)}>
              Revoke
            </MenuItem>
          </Menu>
        ),
    },
  ]
  return (
    <>
      <Head
        name="API keys"
        about="A key sends from one domain. Without the admin permission, it can access only that domain’s records. Test keys access only test records."
      >
        {create}
      </Head>
      <Table
        name="API keys"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={
          <Empty name="No API keys yet">
            <p>Your app needs a key to send messages through the API or SMTP.</p>
            {create}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {dialog === null && place.value.query.create !== undefined && may('api_keys_create') && (
        <CreateKey onClose={close} onSaved={showValue} />
      )}
      {dialog?.kind === 'edit' && (
        <EditKey
          of={dialog.key}
          onClose={close}
          onSaved={() => {
            close()
            pages.reload()
          }}
        />
      )}
      {dialog?.kind === 'rotate' && <RotateKey of={dialog.key} onClose={close} onSaved={showValue} />}
      {dialog?.kind === 'value' && <KeyValue of={dialog.key} onClose={close} />}
    </>
  )
}

/** The networks to which a key is restricted, at most two of them; nothing without a restriction. */
function Networks({ of: { allowed_networks: networks } }: { of: Json }) {
  if (networks === null) return null
  return (
    <div class="small muted" title={networks.join('\n')}>
      {networks.slice(0, 2).map((network: string) => (
        <div key={network}>
          from <span class="mono nowrap">{network}</span>
        </div>
      ))}
      {networks.length > 2 && `and ${networks.length - 2} more`}
    </div>
  )
}

/** `Send only · northwind.example` */
function accessOf({ permissions, domain }: Json): string {
  if (permissions.includes('admin')) return 'Full access'
  const words: string = permissions.join(', ')
  const what = `${words.charAt(0).toUpperCase()}${words.slice(1)}${permissions.length === 1 ? ' only' : ''}`
  return `${what} · ${domain ?? 'deleted domain'}`
}

/** Names of the users by ID; the user alone for those who may not list the others. */
const useMakers = () =>
  useLoad(async (signal): Promise<ReadonlyMap<string, string>> => {
    const others = may('users_list') ? (await get<Paged>('/v1/users', { limit: 100 }, signal)).data : []
    const names = new Map<string, string>(others.map(({ id, name, email }) => [id, name || email]))
    return names.set(session.value?.user.id ?? '', 'You')
  }, [])

function Maker({ id, names }: { id: string | null; names: ReadonlyMap<string, string> | undefined }) {
  if (id === null) return <span class="muted">Command line or key</span>
  return <bdi>{names?.get(id) ?? '–'}</bdi>
}

/** A key that nobody used for three months is a risk without a use. */
const UNUSED_MS = 90 * 86_400_000

function LastUse({ of: { last_used_at, created_at } }: { of: Json }) {
  const isUnused = msSince(last_used_at ?? created_at) > UNUSED_MS
  const text = last_used_at === null ? 'Never' : ago(last_used_at)
  if (isUnused) return <Chip word={text} tone="warn" />
  return last_used_at === null ? <span class="muted">Never</span> : <Time at={last_used_at} />
}

/** How the key ended, or when it will. */
function End({ of: key }: { of: Json }) {
  const ended = endOf(key)
  if (ended !== null) return <Chip word={ended} />
  if (key.expires_at === null) return null
  const isSoon = -msSince(key.expires_at) < WEEK_MS
  return (
    <span class="muted small" title={key.expires_at}>
      Expires {isSoon ? timeLeft(key.expires_at) : when(key.expires_at)}
    </span>
  )
}

const WEEK_MS = 7 * 86_400_000
const timeLeft = (iso: string) => `in ${duration(Math.max(0, -msSince(iso)))}`

function endOf({ revoked_at, expires_at, rotated_to }: Json): 'revoked' | 'expired' | 'rotated' | null {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && msSince(expires_at) >= 0) return 'expired'
  return rotated_to === null ? null : 'rotated'
}
