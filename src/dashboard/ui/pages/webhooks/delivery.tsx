import { get, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { ago, duration, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { CopyButton, Fault, Timeline } from '../../kit/pieces.tsx'
import { Chip, type Tone } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** One event on its way to one webhook: every try with its answer, and what is posted. */
export function Delivery({ of: row, onClose, onRetried }: { of: Json; onClose: () => void; onRetried: () => void }) {
  const path = `/v1/webhooks/${row.webhook_id}/deliveries/${row.id}`
  const { data: delivery = row } = useLoad((signal) => get(path, {}, signal), [path], { everyMs: 2_000 })
  const event = useLoad((signal) => get(`/v1/events/${delivery.event_id}`, {}, signal), [delivery.event_id])
  const body = event.data === undefined ? '' : JSON.stringify(event.data, null, 2)
  const retry = async () => {
    if (!(await attempt(() => post(`${path}/retry`), 'It is tried again now'))) return
    onRetried()
    onClose()
  }
  return (
    <Dialog name={delivery.type} onClose={onClose}>
      <div class="row apart">
        <Chip word={delivery.status} />
        {delivery.next_attempt_at && <span class="muted">next try {ago(delivery.next_attempt_at)}</span>}
      </div>
      <Timeline
        name="Tries"
        moments={delivery.attempts.map((tried: Json) => ({
          key: String(tried.number),
          tone: toneOfAnswer(tried),
          at: when(tried.at),
          iso: tried.at,
          what: `Try ${tried.number}: ${tried.status_code ?? tried.error ?? 'no answer'} after ${duration(tried.duration_ms)}`,
          more: tried.response_excerpt && <pre class="wrap small">{tried.response_excerpt}</pre>,
        }))}
      />
      <div class="row apart">
        <h3>What is posted</h3>
        {body !== '' && <CopyButton text={body} label="event" />}
      </div>
      <Fault error={event.error} />
      {body !== '' && <pre class="small">{body}</pre>}
      <p class="muted small">
        With <code>X-Service-Signature</code>, <code>X-Service-Delivery-Attempt</code> and the headers of Standard
        Webhooks, anew for each try.
      </p>
      <div class="actions">
        <button type="button" onClick={retry}>
          Try again now
        </button>
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

function toneOfAnswer({ status_code: code }: Json): Tone {
  if (code === null) return 'bad'
  return code >= 200 && code < 300 ? 'good' : 'bad'
}
