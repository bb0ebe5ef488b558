import { get, type Json, type Paged, post } from '../../kit/api.ts'
import { ago, duration, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { Fault, Timeline } from '../../kit/pieces.tsx'
import { Chip } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** How a mail was posted to its program, with every attempt and its answer. */
export function Posts({ message: { id, status }, onRedelivered }: { message: Json; onRedelivered: () => void }) {
  const path = `/v1/inbound-messages/${id}`
  const { data, error, reload } = useLoad((signal) => get<Paged>(`${path}/deliveries`, {}, signal), [id, status], {
    everyMs: 5_000,
  })
  const redeliver = async () => {
    await attempt(() => post(`${path}/redeliver`), 'It is posted once more')
    reload()
    onRedelivered()
  }
  return (
    <section class="stack" aria-labelledby="posts">
      <div class="row apart">
        <h2 id="posts">Posted</h2>
        <button type="button" disabled={status === 'pending'} onClick={redeliver}>
          Post again
        </button>
      </div>
      <Fault error={error} onRetry={reload} />
      {data?.data.map((delivery: Json) => (
        <article key={delivery.id} class="card stack" aria-label={`Delivery of ${when(delivery.created_at)}`}>
          <div class="row apart">
            <Chip word={delivery.status} />
            {delivery.next_attempt_at && <span class="muted small">next attempt {ago(delivery.next_attempt_at)}</span>}
          </div>
          {delivery.attempts.length === 0 && <p class="muted">Not tried yet.</p>}
          <Timeline
            name="Attempts"
            moments={delivery.attempts.map((tried: Json) => ({
              key: String(tried.number),
              tone: tried.status_code !== null && tried.status_code < 300 ? 'good' : 'bad',
              at: when(tried.at),
              iso: tried.at,
              what: `Attempt ${tried.number}: ${tried.status_code ?? tried.error ?? 'no answer'} after ${duration(tried.duration_ms)}`,
              more: tried.response_excerpt && <pre class="wrap small">{tried.response_excerpt}</pre>,
            }))}
          />
        </article>
      ))}
    </section>
  )
}
