import { get, type Json, post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { ago, duration, when } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { CopyButton, ErrorNotice, Timeline } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { Chip, type Tone } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** Dialog with one webhook delivery: its request beside the responses. */
export function Delivery({ of: row, onClose, onRetried }: { of: Json; onClose: () => void; onRetried: () => void }) {
  const path = `/v1/webhooks/${row.webhook_id}/deliveries/${row.id}`
  const { data: delivery = row, error } = useLoad((signal) => get(path, {}, signal), [path], { everyMs: 2_000 })
  const retry = async () => {
    if (!(await attempt(() => post(`${path}/retry`), 'Retry queued'))) return
    onRetried()
    onClose()
  }
  return (
    <Dialog name={delivery.type} className="wide" onClose={onClose}>
      <div class="row apart">
        <Chip word={delivery.status} />
        {delivery.next_attempt_at && <span class="muted">Next attempt {ago(delivery.next_attempt_at)}</span>}
      </div>
      <ErrorNotice error={error} />
      <div class="halves">
        <section class="stack tight" aria-label="Request">
          <Request of={delivery} />
        </section>
        <section class="stack tight" aria-label="Responses">
          <h3>{delivery.attempts.length > 1 ? 'Responses' : 'Response'}</h3>
          {delivery.attempts.length === 0 && <p class="muted">No attempts yet</p>}
          <Timeline name="Attempts" moments={delivery.attempts.toReversed().map(momentOf)} />
        </section>
      </div>
      <div class="actions">
        {may('webhook_deliveries_retry') && (
          <button type="button" onClick={retry}>
            Retry now
          </button>
        )}
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** Payload and signature headers of the latest attempt. Before the first one, and in other formats, the event. */
function Request({ of: { request, event_id: id } }: { of: Json }) {
  const event = useLoad(async (signal) => (request ? null : get(`/v1/events/${id}`, {}, signal)), [id, !request])
  const payload = request ? JSON.parse(request.body) : event.data
  const body = payload ? JSON.stringify(payload, null, 2) : ''
  return (
    <>
      <div class="row apart">
        <h3>Payload</h3>
        {body !== '' && <CopyButton text={request?.body ?? body} label="payload" />}
      </div>
      <ErrorNotice error={event.error} />
      {body !== '' && <Code text={body} />}
      {request && (
        <>
          <div class="row apart">
            <h3>Headers</h3>
            <CopyButton text={headersText(request)} label="headers" />
          </div>
          <Code text={headersText(request)} />
          <p class="muted small">Of the latest attempt, signed with the present secret.</p>
        </>
      )}
    </>
  )
}

const headersText = ({ headers }: Json) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const Code = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
  <pre class="wrap small" tabIndex={0}>
    {text}
  </pre>
)

const momentOf = (each: Json) => ({
  key: String(each.number),
  tone: toneOf(each),
  at: when(each.at),
  iso: each.at,
  what: `Attempt ${each.number}: ${each.status_code ?? each.error ?? 'no response'} after ${duration(each.duration_ms)}`,
  more: each.response_excerpt && <pre class="wrap small">{each.response_excerpt}</pre>,
})

function toneOf({ status_code: code }: Json): Tone {
  if (code === null) return 'bad'
  return code >= 200 && code < 300 ? 'good' : 'bad'
}
