import { useState } from 'preact/hooks'
import { EVENT_TYPES } from '../../../../model/event-types.ts'
import { get, type Json, type Paged, patch, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { ago } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoad, usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Choice, Copied, Empty, Facts, Filters, Head, isGone, Time, Unloaded } from '../kit/pieces.tsx'
import { amendQuery, go, href, notePage, place, setQuery } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { Delivery, DeliveryStatus } from './webhooks/delivery.tsx'
import { EditWebhook, Replay, RotateSecret, SendTest } from './webhooks/forms.tsx'
import { Secret } from './webhooks/secret.tsx'

type OpenDialog = 'edit' | 'rotate' | 'test' | 'replay'

/** One webhook: subscriptions, status, and every delivery with its responses. */
export default function WebhookPage({ webhook_id: id }: { webhook_id: string }) {
  const { data: webhook, error, reload } = useLoad((signal) => get(`/v1/webhooks/${id}`, {}, signal), [id])
  const { status = '', type = '' } = place.value.query
  const deliveries = usePages(`/v1/webhooks/${id}/deliveries`, { status, type }, { everyMs: 5_000 })
  const { data: latest } = useLoad<Paged>(
    (signal) => get(`/v1/webhooks/${id}/deliveries`, { limit: MOST_COUNTED }, signal),
    [id],
    { everyMs: 30_000 },
  )
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [withSecret, setWithSecret] = useState<Json>()
  const shown = place.value.query.delivery ?? ''
  if (webhook === undefined || isGone(error)) {
    return (
      <Unloaded name="Webhook" error={error} onRetry={reload}>
        <p>It was deleted, or it belongs to another organization.</p>
        <a href={href('/webhooks')}>All webhooks</a>
      </Unloaded>
    )
  }

  const isPaused = webhook.status === 'paused'
  const close = () => setDialog(null)
  const sent = () => {
    close()
    deliveries.reload()
  }
  const setStatus = (status: 'active' | 'paused') => patch(`/v1/webhooks/${id}`, { status }).then(reload)
  const resume = () => attempt(() => setStatus('active'), 'Webhook resumed')
  const pause = async () => {
    if (await attempt(() => setStatus('paused'))) toast('Webhook paused', resume)
  }
  const drop = async () => {
    const { host } = new URL(webhook.url)
    const isStillHere = notePage()
    const uses = await usesOf(id)
    if (!isStillHere()) return
    const isSure = await confirm({
      name: 'Delete this webhook?',
      text: `${uses}Postrider stops sending events to ${webhook.url} and deletes its delivery history.`,
      action: 'Delete webhook',
      isDangerous: true,
      typed: uses === '' ? '' : host,
    })
    if (!isSure || !(await attempt(() => remove(`/v1/webhooks/${id}`), 'Webhook deleted'))) return
    if (isStillHere()) go('/webhooks')
  }
  return (
    <div class="stack">
      <Head name={webhook.url} about={webhook.description}>
        {!isPaused && <Chip word={webhook.status} />}
        <Menu name="Actions of this webhook" className="icon-only">
          <MenuItem icon="pencil" onPress={() => setDialog('edit')}>
            Edit
          </MenuItem>
          {!isPaused && (
            <MenuItem icon="pause" onPress={pause}>
              Pause
            </MenuItem>
          )}
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
      {isPaused && (
        <section class="notice warn row apart" aria-label="Paused">
          <span class="stack tight">
            <strong>{webhook.disabled_reason ? 'Paused automatically' : 'Paused'}</strong>
            <span class="break">
              {webhook.disabled_reason} {lastError(deliveries.data)} Postrider holds pending deliveries until you
              resume. Events that occur meanwhile are not queued: replay them afterwards.
            </span>
          </span>
          <button type="button" class="primary" onClick={resume}>
            Resume
          </button>
        </section>
      )}
      <section class="card">
        <WebhookFacts of={webhook} latest={latest?.data ?? []} />
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
          columns={columnsOf(isPaused)}
          loaded={deliveries}
          keyOf={({ id }) => id}
          link={linkOf}
          whenEmpty={<Empty name={status || type ? 'No deliveries match' : 'No deliveries yet'} />}
        />
        <Pager pages={deliveries} />
      </section>
      {dialog === 'edit' && (
        <EditWebhook
          of={webhook}
          onClose={close}
          onSaved={() => {
            close()
            reload()
            toast('Webhook saved')
          }}
        />
      )}
      {dialog === 'rotate' && (
        <RotateSecret
          of={webhook}
          onClose={close}
          onSaved={(rotated) => {
            close()
            setWithSecret(rotated)
          }}
        />
      )}
      {dialog === 'test' && <SendTest of={webhook} onClose={close} onSaved={sent} />}
      {dialog === 'replay' && <Replay of={webhook} onClose={close} onSaved={sent} />}
      {withSecret && <Secret of={withSecret} onClose={() => setWithSecret(undefined)} />}
      {/^[\w-]+$/.test(shown) && (
        <Delivery
          key={shown}
          path={`/v1/webhooks/${id}/deliveries/${shown}`}
          isHeld={isPaused}
          onClose={() => amendQuery({ delivery: '' })}
          onRetried={deliveries.reload}
        />
      )}
    </div>
  )
}

/** `latest`: the newest deliveries. */
function WebhookFacts({ of: webhook, latest }: { of: Json; latest: Json[] }) {
  return (
    <Facts
      of={[
        ['Events', webhook.events.join(', ')],
        ['Headers', webhook.header_names.join(', ')],
        ['Latest deliveries', outcomesOf(latest, webhook.status === 'paused')],
        ['Last success', webhook.last_success_at && <Time at={webhook.last_success_at} />],
        ['Last failure', webhook.last_failure_at && <Time at={webhook.last_failure_at} />],
        ['Consecutive failures', String(webhook.consecutive_failures)],
        ['ID', <Copied text={webhook.id} label="ID" />],
      ]}
    />
  )
}

const STATES = [
  ['', 'Any status'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const

const TYPES = [['', 'All events'] as const, ...EVENT_TYPES.map((type) => [type, type] as const)]

/** The list with a delivery open beside it. */
const linkOf = ({ id }: Json) => href(place.value.path, { ...place.value.query, delivery: id })

const columnsOf = (isPaused: boolean): Column<Json>[] => [
  {
    name: 'Event',
    width: '22%',
    phone: 'top-left',
    show: (row) => (
      <a class="mono" href={linkOf(row)}>
        {row.type}
      </a>
    ),
  },
  { name: 'Recipient', width: '26%', isExtra: true, show: ({ to }) => <bdi>{to}</bdi> },
  { name: 'Status', width: '120px', phone: 'last', show: (row) => <DeliveryStatus of={row} isHeld={isPaused} /> },
  { name: 'Last response', phone: 'sub', show: lastResponse },
  {
    name: 'Created',
    width: '124px',
    phone: 'end',
    isNumber: true,
    show: ({ created_at }) => <Time at={created_at} />,
  },
]

/** `204`, or `503, 2 attempts, next in 3 min`. */
function lastResponse({ attempts, next_attempt_at }: Json): string {
  const last = attempts.at(-1)
  if (last === undefined) return 'No attempts yet'
  const isAhead = next_attempt_at !== null && Date.parse(next_attempt_at) > Date.now()
  return [
    last.status_code ?? last.error ?? 'No response',
    attempts.length > 1 && `${attempts.length} attempts`,
    isAhead && `next ${ago(next_attempt_at)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const MOST_COUNTED = 100

/** `97 of 100 delivered, 2 failed, 1 held`; '' without any. */
function outcomesOf(deliveries: Json[], isPaused: boolean): string {
  const count = (of: string) => deliveries.filter(({ status }) => status === of).length
  const [delivered, failed, pending] = [count('delivered'), count('failed'), count('pending')]
  if (deliveries.length === 0) return ''
  return [
    `${delivered} of ${deliveries.length} delivered`,
    failed > 0 && `${failed} failed`,
    pending > 0 && `${pending} ${isPaused ? 'held' : 'pending'}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** What is lost with a webhook that got events, as sentences with a blank at the end; '' for one that got none. */
async function usesOf(id: string): Promise<string> {
  const count = async (status?: string) => {
    const query = { status, limit: MOST_COUNTED }
    return (await get<Paged>(`/v1/webhooks/${id}/deliveries`, query).catch(() => ({ data: [] }))).data.length
  }
  const [all, pending] = await Promise.all([count(), count('pending')])
  if (all === 0) return ''
  const most = pending === MOST_COUNTED ? 'At least ' : ''
  return pending === 0
    ? 'It receives events. '
    : `${most}${pending} ${pending === 1 ? 'event waits' : 'events wait'} for it. `
}

/** The error of the newest delivery that got no response, as a sentence. */
function lastError(deliveries: Json[] = []): string {
  const error = deliveries.map(({ attempts }) => attempts.at(-1)?.error).find(Boolean)
  return error === undefined ? '' : `Last error: ${error}.`
}
