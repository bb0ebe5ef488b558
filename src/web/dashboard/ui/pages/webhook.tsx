import { useState } from 'preact/hooks'
import { EVENT_TYPES } from '../../../../model/event-types.ts'
import { get, type Json, patch, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { useLoad, usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Choice, CopyButton, Empty, ErrorNotice, Facts, Filters, Head, Time } from '../kit/pieces.tsx'
import { go, place, setQuery } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { Delivery } from './webhooks/delivery.tsx'
import { EditWebhook, Replay, RotateSecret, SendTest } from './webhooks/forms.tsx'
import { Secret } from './webhooks/secret.tsx'

type OpenDialog = 'edit' | 'rotate' | 'test' | 'replay'

/** One webhook: subscriptions, status, and every delivery with its responses. */
export default function WebhookPage({ webhook_id: id }: { webhook_id: string }) {
  const { data: webhook, error, reload } = useLoad((signal) => get(`/v1/webhooks/${id}`, {}, signal), [id])
  const { status = '', type = '' } = place.value.query
  const deliveries = usePages(
    `/v1/webhooks/${id}/deliveries`,
    { status: status || undefined, type: type || undefined },
    { everyMs: 5_000 },
  )
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [withSecret, setWithSecret] = useState<Json>()
  const [shown, setShown] = useState<Json>()
  if (webhook === undefined) return error ? <ErrorNotice error={error} onRetry={reload} /> : <Head name="Webhook" />

  const isPaused = webhook.status === 'paused'
  const close = () => setDialog(null)
  const pause = () =>
    attempt(
      async () => {
        await patch(`/v1/webhooks/${id}`, { status: isPaused ? 'active' : 'paused' })
        reload()
      },
      isPaused ? 'Webhook resumed' : 'Webhook paused',
    )
  const drop = async () => {
    const isSure = await confirm({
      name: 'Delete this webhook?',
      text: `Postrider stops sending events to ${webhook.url} and deletes its delivery history.`,
      action: 'Delete webhook',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/webhooks/${id}`), 'Webhook deleted'))) go('/webhooks')
  }
  const columns: Column<Json>[] = [
    { name: 'Event', width: '26%', phone: 'top-left', show: ({ type }) => <span class="mono">{type}</span> },
    { name: 'Status', width: '110px', phone: 'last', show: ({ status }) => <Chip word={status} /> },
    { name: 'Response', phone: 'sub', show: ({ attempts }) => lastResponse(attempts) },
    { name: 'Next attempt', width: '120px', show: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
    { name: 'Created', width: '120px', show: ({ created_at }) => <Time at={created_at} /> },
    {
      name: '',
      width: '96px',
      phone: 'end',
      show: (row) => (
        <button type="button" class="tiny" onClick={() => setShown(row)}>
          Details<span class="hidden"> of {row.id}</span>
        </button>
      ),
    },
  ]
  return (
    <div class="stack">
      <Head name={webhook.url} about={webhook.description}>
        <Chip word={webhook.status} />
        <Menu name="Actions of this webhook" className="icon-only">
          <MenuItem icon="pencil" onPress={() => setDialog('edit')}>
            Edit
          </MenuItem>
          <MenuItem icon={isPaused ? 'play' : 'pause'} onPress={pause}>
            {isPaused ? 'Resume' : 'Pause'}
          </MenuItem>
          <MenuItem icon="rotate-cw" onPress={() => setDialog('rotate')}>
            Rotate secret
          </MenuItem>
          <MenuItem icon="trash" isDangerous onPress={drop}>
            Delete
          </MenuItem>
        </Menu>
        <button type="button" class="primary" onClick={() => setDialog('test')} disabled={isPaused}>
          Send test event
        </button>
      </Head>
      {webhook.disabled_reason && <p class="notice bad">Paused automatically: {webhook.disabled_reason}.</p>}
      <section class="card">
        <WebhookFacts of={webhook} />
      </section>
      <section>
        <div class="row apart section-head">
          <h2>Deliveries</h2>
          <button type="button" onClick={() => setDialog('replay')}>
            <Icon name="rotate-cw" />
            Replay events
          </button>
        </div>
        <Filters>
          <Choice name="Status" value={status} options={STATES} onChange={(status) => setQuery({ status })} />
          <Choice name="Event type" value={type} options={TYPES} onChange={(type) => setQuery({ type })} />
        </Filters>
        <Table
          name="Deliveries"
          columns={columns}
          loaded={deliveries}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name={status || type ? 'No deliveries match' : 'No deliveries yet'} />}
        />
        <Pager pages={deliveries} />
      </section>
      <Dialogs
        of={webhook}
        chosen={dialog}
        onClose={close}
        onSaved={() => {
          close()
          reload()
          toast('Webhook saved')
        }}
        onRotated={(rotated) => {
          close()
          setWithSecret(rotated)
        }}
        onSent={() => {
          close()
          deliveries.reload()
        }}
      />
      {withSecret && <Secret of={withSecret} onClose={() => setWithSecret(undefined)} />}
      {shown && <Delivery of={shown} onClose={() => setShown(undefined)} onRetried={deliveries.reload} />}
    </div>
  )
}

function WebhookFacts({ of: webhook }: { of: Json }) {
  const { id } = webhook
  return (
    <Facts
      of={[
        ['Events', webhook.events.join(', ')],
        ['Headers', webhook.header_names.join(', ')],
        ['Last success', webhook.last_success_at && <Time at={webhook.last_success_at} />],
        ['Last failure', webhook.last_failure_at && <Time at={webhook.last_failure_at} />],
        ['Consecutive failures', String(webhook.consecutive_failures)],
        [
          'ID',
          <span class="row copied-id">
            <code class="ellipsis">{id}</code>
            <CopyButton text={id} label="ID" />
          </span>,
        ],
      ]}
    />
  )
}

/** The open dialog of the page, if any. */
function Dialogs({
  of,
  chosen,
  onClose,
  onSaved,
  onRotated,
  onSent,
}: {
  of: Json
  chosen: OpenDialog | null
  onClose: () => void
  onSaved: () => void
  onRotated: (rotated: Json) => void
  onSent: () => void
}) {
  switch (chosen) {
    case 'edit':
      return <EditWebhook of={of} onClose={onClose} onSaved={onSaved} />
    case 'rotate':
      return <RotateSecret of={of} onClose={onClose} onSaved={onRotated} />
    case 'test':
      return <SendTest of={of} onClose={onClose} onSaved={onSent} />
    case 'replay':
      return <Replay of={of} onClose={onClose} onSaved={onSent} />
    case null:
      return null
  }
}

const STATES = [
  ['', 'Any status'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const

const TYPES = [['', 'All events'] as const, ...EVENT_TYPES.map((type) => [type, type] as const)]

/** `204`, or `No response, 3 attempts`. */
function lastResponse(attempts: Json[]): string {
  const last = attempts.at(-1)
  if (last === undefined) return 'No attempts yet'
  const response = last.status_code === null ? 'No response' : String(last.status_code)
  return attempts.length === 1 ? response : `${response}, ${attempts.length} attempts`
}
