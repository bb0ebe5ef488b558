import { useState } from 'preact/hooks'
import { type Json, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { duration, when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt } from '../kit/toast.tsx'
import { CreateKey, EditKey, RotateKey } from './api-keys/forms.tsx'
import { KeyValue } from './api-keys/value.tsx'

type OpenDialog = { kind: 'create' } | { kind: 'edit' | 'rotate' | 'value'; key: Json }

/** API keys. The page shows the value of a key once, after it was created. */
export default function ApiKeysPage() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const pages = usePages('/v1/api-keys', {})
  const close = () => setDialog(null)
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
    <button type="button" class="primary" onClick={() => setDialog({ kind: 'create' })}>
      Create API key
    </button>
  )
  const columns: Column<Json>[] = [
    {
      name: 'Name',
      width: '24%',
      phone: 'top-left',
      show: ({ name, prefix }) => (
        <>
          <span class="strong">{name}</span>
          <div class="mono small muted">{prefix}…</div>
        </>
      ),
      by: ({ name }) => name,
    },
    {
      name: 'Domain',
      phone: 'sub',
      show: ({ domain }) =>
        domain === null ? <span class="muted">Deleted</span> : <span class="domain-name">{domain}</span>,
      by: ({ domain }) => domain,
    },
    {
      name: 'Permissions',
      width: '20%',
      show: (key) => (
        <>
          {key.permissions.join(', ')}
          <Networks of={key} />
        </>
      ),
    },
    { name: 'Status', width: '190px', phone: 'last', show: (key) => <Status of={key} /> },
    { name: 'Last used', width: '110px', isExtra: true, show: ({ last_used_at }) => <Time at={last_used_at} /> },
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
      {dialog?.kind === 'create' && <CreateKey onClose={close} onSaved={showValue} />}
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

function Status({ of: key }: { of: Json }) {
  const ended = endOf(key)
  if (ended !== null) return <Chip word={ended} />
  return (
    <span class="row">
      <Chip word={key.mode} tone={key.mode === 'test' ? 'quiet' : 'calm'} />
      {key.expires_at && (
        <span class="muted small" title={key.expires_at}>
          Expires {Date.parse(key.expires_at) - Date.now() < WEEK_MS ? timeLeft(key.expires_at) : when(key.expires_at)}
        </span>
      )}
    </span>
  )
}

const WEEK_MS = 7 * 86_400_000
const timeLeft = (iso: string) => `in ${duration(Math.max(0, Date.parse(iso) - Date.now()))}`

function endOf({ revoked_at, expires_at, rotated_to }: Json): 'revoked' | 'expired' | 'rotated' | null {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired'
  return rotated_to === null ? null : 'rotated'
}
