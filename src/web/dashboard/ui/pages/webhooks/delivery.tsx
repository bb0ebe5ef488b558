import { useLayoutEffect, useRef } from 'preact/hooks'
import { get, type Json, post } from '../../kit/api.ts'
import { ago, duration, precise } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { useLoad } from '../../kit/load.ts'
import { CopyButton, ErrorNotice, Timeline } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { Chip, type Tone } from '../../kit/status.tsx'
import { attempt } from '../../kit/toast.tsx'

/** One webhook delivery beside the list: its responses, then its request. Escape closes it. */
export function Delivery({
  path,
  isHeld,
  onClose,
  onRetried,
}: {
  path: string
  /** Whether the webhook is paused. */
  isHeld: boolean
  onClose: () => void
  onRetried: () => void
}) {
  const { data: delivery, error, reload } = useLoad((signal) => get(path, {}, signal), [path], { everyMs: 2_000 })
  const panel = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    panel.current?.focus({ preventScroll: true })
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open], [popover]:popover-open') !== null) return
      event.preventDefault()
      onClose()
    }
    document.addEventListener('keydown', close, { capture: true })
    return () => document.removeEventListener('keydown', close, { capture: true })
  }, [])
  const retry = async () => {
    if (!(await attempt(() => post(`${path}/retry`), 'Retry queued'))) return
    reload()
    onRetried()
  }
  return (
    <section class="panel stack" ref={panel} tabIndex={-1} aria-label="Delivery">
      <div class="row apart">
        <h2>{delivery?.type ?? 'Delivery'}</h2>
        <button type="button" class="plain icon-only" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      <ErrorNotice error={error} />
      {delivery && (
        <>
          <div class="row apart">
            <DeliveryStatus of={delivery} isHeld={isHeld} />
            {may('webhook_deliveries_retry') && !isHeld && (
              <button type="button" onClick={retry}>
                Retry now
              </button>
            )}
          </div>
          {delivery.to && <bdi class="muted break">{delivery.to}</bdi>}
          <section class="stack tight" aria-label="Responses">
            <h3>{delivery.attempts.length > 1 ? 'Responses' : 'Response'}</h3>
            {delivery.attempts.length === 0 && <p class="muted">No attempts yet</p>}
            <Timeline name="Attempts" moments={delivery.attempts.toReversed().map(momentOf)} />
            {isHeld && delivery.next_attempt_at && <p class="muted">Held until you resume.</p>}
            {!isHeld && delivery.next_attempt_at && <p class="muted">Next attempt {ago(delivery.next_attempt_at)}.</p>}
          </section>
          <section class="stack tight" aria-label="Request">
            <Request of={delivery} />
          </section>
        </>
      )}
    </section>
  )
}

/** Status of a delivery. A pending one is held while the webhook is paused. */
export const DeliveryStatus = ({ of: { status }, isHeld }: { of: Json; isHeld: boolean }) =>
  isHeld && status === 'pending' ? <Chip word="held" tone="warn" /> : <Chip word={status} />

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
          <p class="muted small">From the latest attempt, signed with the current secret.</p>
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
  <pre class="wrap small" dir="auto" tabIndex={0}>
    {text}
  </pre>
)

const momentOf = (each: Json) => ({
  key: String(each.number),
  tone: toneOf(each),
  at: precise(each.at),
  iso: each.at,
  what: `Attempt ${each.number}: ${each.status_code ?? each.error ?? 'no response'} after ${duration(each.duration_ms)}`,
  more: each.response_excerpt && <pre class="wrap small">{each.response_excerpt}</pre>,
})

function toneOf({ status_code: code }: Json): Tone {
  if (code === null) return 'bad'
  return code >= 200 && code < 300 ? 'good' : 'bad'
}
