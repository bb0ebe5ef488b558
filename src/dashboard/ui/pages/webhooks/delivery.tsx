import { get, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { ago, duration, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { CopyButton, ErrorNotice, Timeline } from '../../kit/pieces.tsx'
import { Chip, type Tone } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** Dialog with one webhook delivery: every attempt with its response, and the payload. */
export function Delivery({ of: row, onClose, onRetried }: { of: Json; onClose: () => void; onRetried: () => void }) {
  const path = `/v1/webhooks/${row.webhook_id}/deliveries/${row.id}`
  const { data: delivery = row } = useLoad((signal) => get(path, {}, signal), [path], { everyMs: 2_000 })
  const event = useLoad((signal) => get(`/v1/events/${delivery.event_id}`, {}, signal), [delivery.event_id])
  const body = event.data === undefined ? '' : JSON.stringify(event.data, null, 2)
  const retry = async () => {
    if (!(await attempt(() => post(`${path}/retry`), 'Retry queued'))) return
    onRetried()
    onClose()
  }
  return (
    <Dialog name={delivery.type} onClose={onClose}>
      <div class="row apart">
        <Chip word={delivery.status} />
        {delivery.next_attempt_at && <span class="muted">Next attempt {ago(delivery.next_attempt_at)}</span>}
      </div>
      <Timeline
        name="Attempts"
        moments={delivery.attempts.map((each: Json) => ({
          key: String(each.number),
          tone: toneOf(each),
          at: when(each.at),
          iso: each.at,
          what: `Attempt ${each.number}: ${each.status_code ?? each.error ?? 'no response'} after ${duration(each.duration_ms)}`,
          more: each.response_excerpt && <pre class="wrap small">{each.response_excerpt}</pre>,
        }))}
      />
      <div class="row apart">
        <h3>Payload</h3>
        {body !== '' && <CopyButton text={body} label="payload" />}
      </div>
      <ErrorNotice error={event.error} />
      {body !== '' && <pre class="small">{body}</pre>}
      <p class="muted small">
        Each attempt has its own <code>X-Service-Signature</code>, <code>X-Service-Delivery-Attempt</code> and Standard
        Webhooks headers.
      </p>
      <div class="actions">
        <button type="button" onClick={retry}>
          Retry now
        </button>
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

function toneOf({ status_code: code }: Json): Tone {
  if (code === null) return 'bad'
  return code >= 200 && code < 300 ? 'good' : 'bad'
}
