import { useState } from 'preact/hooks'
import { get, type Json, patch, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { ago, when } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Choice, CopyButton, Empty, Facts, Fault, Filters, Head } from '../kit/pieces.tsx'
import { ask, go, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { Delivery } from './webhooks/delivery.tsx'
import { EditWebhook, Replay, RotateSecret, SendTest } from './webhooks/forms.tsx'
import { Secret } from './webhooks/secret.tsx'

type Asking = 'edit' | 'rotate' | 'test' | 'replay'

/** One webhook: what it is told of, how it answers, and every request with its answer. */
export default function WebhookPage({ webhook_id: id }: { webhook_id: string }) {
  const { data: webhook, error, reload } = useLoad((signal) => get(`/v1/webhooks/${id}`, {}, signal), [id])
  const { status = '' } = place.value.query
  const deliveries = usePages(`/v1/webhooks/${id}/deliveries`, { status: status || undefined }, { everyMs: 5_000 })
  const [asking, setAsking] = useState<Asking | null>(null)
  const [withSecret, setWithSecret] = useState<Json>()
  const [shown, setShown] = useState<Json>()
  if (webhook === undefined) return error ? <Fault error={error} onRetry={reload} /> : <Head name="Webhook" />

  const isPaused = webhook.status === 'paused'
  const close = () => setAsking(null)
  const pause = () =>
    attempt(
      async () => {
        await patch(`/v1/webhooks/${id}`, { status: isPaused ? 'active' : 'paused' })
        reload()
      },
      isPaused ? 'It is told again' : 'It is told nothing now',
    )
  const drop = async () => {
    const isSure = await confirm({
      name: 'Delete this webhook?',
      text: `${webhook.url} is told nothing more, and what it was told is forgotten.`,
      action: 'Delete webhook',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/webhooks/${id}`), 'Webhook deleted'))) go('/webhooks')
  }
  const columns: Column<Json>[] = [
    { name: 'Event', show: ({ type }) => <span class="mono">{type}</span> },
    { name: 'Status', show: ({ status }) => <Chip word={status} /> },
    { name: 'Answer', show: ({ attempts }) => answerWords(attempts) },
    { name: 'Next try', show: ({ next_attempt_at }) => ago(next_attempt_at) },
    { name: 'Time', show: ({ created_at }) => when(created_at) },
    {
      name: '',
      isWhole: true,
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
        <button type="button" class="primary" onClick={() => setAsking('test')} disabled={isPaused}>
          Send test event
        </button>
      </Head>
      {webhook.disabled_reason && <p class="notice bad">Paused by itself: {webhook.disabled_reason}.</p>}
      <section class="card stack">
        <Facts
          of={[
            ['Events', webhook.events.join(', ')],
            ['Last success', webhook.last_success_at && ago(webhook.last_success_at)],
            ['Last failure', webhook.last_failure_at && ago(webhook.last_failure_at)],
            ['Failures in a row', String(webhook.consecutive_failures)],
            [
              'Id',
              <span class="row">
                <span class="mono">{id}</span> <CopyButton text={id} label="id" />
              </span>,
            ],
          ]}
        />
        <div class="row">
          <button type="button" onClick={() => setAsking('edit')}>
            Change
          </button>
          <button type="button" onClick={pause}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
          <button type="button" onClick={() => setAsking('rotate')}>
            New secret
          </button>
          <button type="button" onClick={() => setAsking('replay')}>
            Send past events again
          </button>
          <button type="button" class="danger" onClick={drop}>
            Delete
          </button>
        </div>
      </section>
      <section>
        <h2>Deliveries</h2>
        <Filters>
          <Choice name="Status" value={status} options={STATES} onChange={(status) => ask({ status })} />
        </Filters>
        <Table
          name="Deliveries"
          columns={columns}
          loaded={deliveries}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name={status ? 'None like that' : 'Nothing was told yet'} />}
        />
        <Pager pages={deliveries} />
      </section>
      {asking === 'edit' && (
        <EditWebhook
          of={webhook}
          onClose={close}
          onMade={() => {
            close()
            reload()
            toast('Webhook changed')
          }}
        />
      )}
      {asking === 'rotate' && (
        <RotateSecret
          of={webhook}
          onClose={close}
          onMade={(made) => {
            close()
            setWithSecret(made)
          }}
        />
      )}
      {(asking === 'test' || asking === 'replay') &&
        (() => {
          const Asked = asking === 'test' ? SendTest : Replay
          const done = () => {
            close()
            deliveries.reload()
          }
          return <Asked of={webhook} onClose={close} onMade={done} />
        })()}
      {withSecret && <Secret of={withSecret} onClose={() => setWithSecret(undefined)} />}
      {shown && <Delivery of={shown} onClose={() => setShown(undefined)} onRetried={deliveries.reload} />}
    </div>
  )
}

const STATES = [
  ['', 'Any status'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const

/** `204`, `no answer, 3 tries`. */
function answerWords(attempts: Json[]): string {
  const last = attempts.at(-1)
  if (last === undefined) return 'not tried yet'
  const words = last.status_code === null ? 'no answer' : String(last.status_code)
  return attempts.length === 1 ? words : `${words}, ${attempts.length} tries`
}
