import { get, type Json, type Paged, post } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, Fault } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt } from '../kit/toast.tsx'

/** How webhooks were told of a message: each event for each webhook, with every attempt and its answer. */
export function Told({ message }: { message: Json }) {
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
  if (data === undefined) return <Fault error={error} onRetry={reload} />
  if (data.deliveries.length === 0) {
    return (
      <Empty name="No webhook was told of it">
        <p>Either nothing happened to it yet, or no webhook wants such events.</p>
        <a href={href('/webhooks')}>Webhooks</a>
      </Empty>
    )
  }
  const retry = ({ webhook_id, id }: Json) =>
    attempt(() => post(`/v1/webhooks/${webhook_id}/deliveries/${id}/retry`), 'It is posted once more').then(reload)
  return (
    <div class="stack">
      <Fault error={error} onRetry={reload} />
      {data.deliveries.map((delivery) => (
        <article key={delivery.id} class="card stack tight">
          <div class="row apart">
            <h2>{delivery.type}</h2>
            <span class="row">
              <Chip word={delivery.status} />
              <button type="button" class="tiny" onClick={() => retry(delivery)}>
                Post again
              </button>
            </span>
          </div>
          <p class="muted small break">
            <a href={href(`/webhooks/${delivery.webhook_id}`)}>
              {data.urls[delivery.webhook_id] ?? delivery.webhook_id}
            </a>
            , event <code>{delivery.event_id}</code>
          </p>
          {delivery.attempts.map((tried: Json) => (
            <div key={tried.number} class="row small">
              <span class="num muted">{when(tried.at)}</span>
              <span>
                attempt {tried.number}: {tried.status_code ?? 'no answer'} in {duration(tried.duration_ms)}
              </span>
              {(tried.error || tried.response_excerpt) && (
                <code class="break">{[tried.error, tried.response_excerpt].filter(Boolean).join(' · ')}</code>
              )}
            </div>
          ))}
          {delivery.next_attempt_at && <p class="small">Next attempt {ago(delivery.next_attempt_at)}.</p>}
        </article>
      ))}
    </div>
  )
}
