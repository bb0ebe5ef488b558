import { useState } from 'preact/hooks'
import { type Json, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { ago, duration, when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt } from '../kit/toast.tsx'
import { CreateKey, EditKey, RotateKey } from './api-keys/forms.tsx'
import { KeyValue } from './api-keys/value.tsx'

type Asking = { kind: 'create' } | { kind: 'edit' | 'rotate' | 'value'; key: Json }

/** What programs present. A value is shown once, when it is made. */
export default function ApiKeysPage() {
  const [asking, setAsking] = useState<Asking | null>(null)
  const pages = usePages('/v1/api-keys', {})
  const close = () => setAsking(null)
  const made = (key: Json) => {
    setAsking({ kind: 'value', key })
    pages.reload()
  }
  const revoke = async (key: Json) => {
    const isSure = await confirm({
      name: `Revoke ${key.name}?`,
      text: `Requests with ${key.prefix}… fail from now on. To give programs time to change, rotate the key instead.`,
      action: 'Revoke',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/api-keys/${key.id}`), `${key.name} is revoked`))) pages.reload()
  }
  const create = (
    <button type="button" class="primary" onClick={() => setAsking({ kind: 'create' })}>
      Create key
    </button>
  )
  const columns: Column<Json>[] = [
    {
      name: 'Name',
      show: ({ name, prefix }) => (
        <>
          <strong class="break">{name}</strong>
          <div class="mono small muted nowrap">{prefix}…</div>
        </>
      ),
      by: ({ name }) => name,
    },
    {
      name: 'Domain',
      show: ({ domain }) =>
        domain === null ? <span class="muted">removed</span> : <span class="domain-name">{domain}</span>,
      by: ({ domain }) => domain,
    },
    {
      name: 'Permissions',
      show: (key) => (
        <>
          {key.permissions.join(', ')}
          <Networks of={key} />
        </>
      ),
    },
    { name: 'State', show: (key) => <State of={key} /> },
    { name: 'Last used', isShort: true, show: ({ last_used_at }) => (last_used_at ? ago(last_used_at) : 'never') },
    {
      name: '',
      isWhole: true,
      show: (key) =>
        wayOut(key) === null && (
          <div class="row">
            <button type="button" class="tiny" onClick={() => setAsking({ kind: 'edit', key })}>
              Edit<span class="hidden"> {key.name}</span>
            </button>
            <button type="button" class="tiny" onClick={() => setAsking({ kind: 'rotate', key })}>
              Rotate<span class="hidden"> {key.name}</span>
            </button>
            <button type="button" class="tiny danger" onClick={() => revoke(key)}>
              Revoke<span class="hidden"> {key.name}</span>
            </button>
          </div>
        ),
    },
  ]
  return (
    <>
      <Head
        name="API keys"
        about="A key sends from its own domain. Without admin it reaches the records of that domain only. Test keys reach test records only."
      >
        {create}
      </Head>
      <Table
        name="API keys"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={
          <Empty name="No key yet">
            <p>A program needs one to send. Its password for SMTP is the same key.</p>
            {create}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {asking?.kind === 'create' && <CreateKey onClose={close} onMade={made} />}
      {asking?.kind === 'edit' && (
        <EditKey
          of={asking.key}
          onClose={close}
          onSaved={() => {
            close()
            pages.reload()
          }}
        />
      )}
      {asking?.kind === 'rotate' && <RotateKey of={asking.key} onClose={close} onMade={made} />}
      {asking?.kind === 'value' && <KeyValue of={asking.key} onClose={close} />}
    </>
  )
}

/** From where alone a key works. */
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

function State({ of: key }: { of: Json }) {
  const ended = wayOut(key)
  if (ended !== null) return <Chip word={ended} />
  return (
    <span class="row">
      <Chip word={key.mode} tone={key.mode === 'test' ? 'warn' : 'calm'} />
      {key.expires_at && (
        <span class="muted small" title={key.expires_at}>
          expires {Date.parse(key.expires_at) - Date.now() < WEEK_MS ? inWords(key.expires_at) : when(key.expires_at)}
        </span>
      )}
    </span>
  )
}

const WEEK_MS = 7 * 86_400_000
const inWords = (iso: string) => `in ${duration(Math.max(0, Date.parse(iso) - Date.now()))}`

function wayOut({ revoked_at, expires_at, rotated_to }: Json): 'revoked' | 'expired' | 'rotated' | null {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired'
  return rotated_to === null ? null : 'rotated'
}
