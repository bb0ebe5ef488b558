import { get, type Json, type Paged, post } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, ErrorNotice, Pending } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt } from '../kit/toast.tsx'

/** Webhook deliveries of a message, with every attempt and its response. */
export function MessageWebhooks({ message }: { message: Json }) {
  const { id } = message
  const { data, error, reload } = useLoad(
    async (signal) => {
      const [deliveries, webhooks] = await Promise.all([
        get<Paged>(`/v1/messages/${id}/webhook-deliveries`, {}, signal),
        get<Paged>('/v1/webhooks', { limit: 100 }, signal),
      ])
      return { deliveries: deliveries.data, urls: Object.fromEntries(webhooks.data.map(({ id, url }) => [id, url])) }
    },
    [id, message.status],
    { everyMs: 5_000 },
  )
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  if (data.deliveries.length === 0) {
    return (
      <Empty name="No webhook deliveries">
        <p>No event has occurred yet, or no webhook subscribes to its events.</p>
        <a href={href('/webhooks')}>View webhooks</a>
      </Empty>
    )
  }
  const retry = ({ webhook_id, id }: Json) =>
    attempt(() => post(`/v1/webhooks/${webhook_id}/deliveries/${id}/retry`), 'Retry queued').then(reload)
  return (
    <div class="stack">
      <ErrorNotice error={error} onRetry={reload} />
      {data.deliveries.map((delivery) => (
        <article key={delivery.id} class="card stack tight">
          <div class="row apart">
            <h2>{delivery.type}</h2>
            <span class="row">
              <Chip word={delivery.status} />
              <button type="button" class="tiny" onClick={() => retry(delivery)}>
                Retry
              </button>
            </span>
          </div>
          <p class="muted small break">
            <a href={href(`/webhooks/${delivery.webhook_id}`)}>
              {data.urls[delivery.webhook_id] ?? delivery.webhook_id}
            </a>
            , event <code>{delivery.event_id}</code>
          </p>
          {delivery.attempts.map((each: Json) => (
            <div key={each.number} class="row small">
              <span class="num muted">{when(each.at)}</span>
              <span>
                Attempt {each.number}: {each.status_code ?? 'no response'} in {duration(each.duration_ms)}
              </span>
              {(each.error || each.response_excerpt) && (
                <code class="break">{[each.error, each.response_excerpt].filter(Boolean).join(' · ')}</code>
              )}
            </div>
          ))}
          {delivery.next_attempt_at && <p class="small">Next attempt {ago(delivery.next_attempt_at)}.</p>}
        </article>
      ))}
    </div>
  )
}
