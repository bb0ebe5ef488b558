import { get, type Json, type Paged, post } from '../../kit/api.ts'
import { ago, duration, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { ErrorNotice, Timeline } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { Chip } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** Webhook deliveries of an inbound message, with every attempt and its response. */
export function InboundDeliveries({
  message: { id, status },
  onRedelivered,
}: {
  message: Json
  onRedelivered: () => void
}) {
  const path = `/v1/inbound-messages/${id}`
  const { data, error, reload } = useLoad(
    async (signal) => (may('inbound_messages_deliveries') ? get<Paged>(`${path}/deliveries`, {}, signal) : null),
    [id, status],
    { everyMs: 5_000 },
  )
  const redeliver = async () => {
    await attempt(() => post(`${path}/redeliver`), 'Delivery queued')
    reload()
    onRedelivered()
  }
  return (
    <section class="stack" aria-labelledby="deliveries">
      <div class="row apart">
        <h2 id="deliveries">Webhook deliveries</h2>
        {may('inbound_messages_redeliver') && (
          <button type="button" disabled={status === 'pending'} onClick={redeliver}>
            Redeliver
          </button>
        )}
      </div>
      <ErrorNotice error={error} onRetry={reload} />
      {data?.data.map((delivery: Json) => (
        <article key={delivery.id} class="card stack" aria-label={`Delivery of ${when(delivery.created_at)}`}>
          <div class="row apart">
            <Chip word={delivery.status} />
            {delivery.next_attempt_at && <span class="muted small">Next attempt {ago(delivery.next_attempt_at)}</span>}
          </div>
          {delivery.attempts.length === 0 && <p class="muted">No attempts yet.</p>}
          <Timeline
            name="Attempts"
            moments={delivery.attempts.map((each: Json) => ({
              key: String(each.number),
              tone: each.status_code !== null && each.status_code < 300 ? 'good' : 'bad',
              at: when(each.at),
              iso: each.at,
              what: `Attempt ${each.number}: ${each.status_code ?? each.error ?? 'no response'} after ${duration(each.duration_ms)}`,
              more: each.response_excerpt && <pre class="wrap small">{each.response_excerpt}</pre>,
            }))}
          />
        </article>
      ))}
    </section>
  )
}
