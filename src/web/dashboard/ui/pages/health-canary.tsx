import { useState } from 'preact/hooks'
import { get, type Json, post } from '../kit/api.ts'
import { Chart } from '../kit/chart.tsx'
import { ago, when } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { ErrorNotice, Segments, useBusy } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { toast } from '../kit/toast.tsx'

/** Canary messages; none for users who are not the operator. */
export const useCanaries = () =>
  useLoad(async (signal) => (may('canary_list') ? get('/v1/canary', {}, signal) : { every_minutes: 0, data: [] }), [], {
    everyMs: 20_000,
  })

/** The last canary mail to each mailbox, and the time to the inbox of those before; nothing if canaries are off. */
export function Canaries({ loaded: { data, error, reload } }: { loaded: Loaded<Json> }) {
  const [isSending, send] = useBusy(async () => {
    await post('/v1/canary/run').finally(reload)
    toast('Canary messages sent')
  })
  if (!data) return <ErrorNotice error={error} onRetry={reload} />
  if (data.every_minutes === 0) return null
  return (
    <section class="card stack" aria-labelledby="canaries">
      <div class="row apart">
        <h2 id="canaries">Canary messages</h2>
        <button type="button" class="tiny" disabled={isSending} onClick={send}>
          {isSending ? 'Sending…' : 'Send now'}
        </button>
      </div>
      <ErrorNotice error={error} onRetry={reload} />
      <ul class="needs canaries">
        {data.data.map((each: Json) => (
          <Mailbox key={each.mailbox} of={each} />
        ))}
      </ul>
      <details>
        <summary>Time to arrive</summary>
        <History mailboxes={data.data} lateAfter={data.late_after_seconds} />
      </details>
    </section>
  )
}

function Mailbox({ of: { mailbox, address, canaries } }: { of: Json }) {
  const last = canaries.find(({ result }: Json) => result !== 'pending') ?? canaries[0]
  const [word, tone] = RESULTS[last?.result] ?? ['No mail yet', 'quiet']
  return (
    <li>
      <Chip word={word} tone={tone} />
      <span class="break">
        <strong>{nameOf(mailbox)}</strong>
        {address !== null && ` ${address}`}
        {last?.seconds != null && `: ${secondsOf(last.seconds)}`}
        {last?.detail != null && `: ${last.detail}`} {last && <span class="muted">{ago(last.sent_at)}</span>}
      </span>
      <Sparkline canaries={canaries.slice(0, SPARKS).toReversed()} />
    </li>
  )
}

/** Bars of the last canaries in a sparkline. */
const SPARKS = 30
const SPARK_HEIGHT = 20

/** A bar for each canary, oldest first: its height is the time to arrive, its colour the result. */
function Sparkline({ canaries }: { canaries: readonly Json[] }) {
  const ended = canaries.filter(({ result }) => result !== 'pending')
  if (ended.length < 2) return <span />
  const most = Math.max(...ended.map(({ seconds }) => seconds ?? 0), 1)
  const good = ended.filter(({ result }) => result === 'inbox').length
  return (
    <svg
      class="spark"
      role="img"
      aria-label={`${good} of the last ${ended.length} in the inbox`}
      viewBox={`0 0 ${SPARKS * 4} ${SPARK_HEIGHT}`}
    >
      {ended.map(({ id, seconds, result }, at) => {
        const height = seconds === null ? SPARK_HEIGHT : Math.max(2, (seconds / most) * SPARK_HEIGHT)
        const x = (SPARKS - ended.length + at) * 4
        return (
          <rect key={id} x={x} y={SPARK_HEIGHT - height} width="3" height={height} class={RESULTS[result]?.[1]}>
            <title>{RESULTS[result]?.[0]}</title>
          </rect>
        )
      })}
    </svg>
  )
}

/** A mail alone makes no line. */
function History({ mailboxes, lateAfter }: { mailboxes: readonly Json[]; lateAfter: number }) {
  const drawn = mailboxes
    .map(
      ({ mailbox, canaries }) => [mailbox, canaries.filter(({ seconds }: Json) => seconds !== null).reverse()] as const,
    )
    .filter(([, arrived]) => arrived.length > 1)
  const [chosen, setChosen] = useState<string>()
  const shown = drawn.find(([mailbox]) => mailbox === chosen) ?? drawn[0]
  if (shown === undefined) return <p class="muted small">The chart starts when two messages have arrived.</p>
  const [mailbox, arrived] = shown
  return (
    <div class="stack tight">
      {drawn.length > 1 && (
        <Segments
          name="Mailbox"
          options={drawn.map(([name]) => [name, nameOf(name)] as const)}
          chosen={mailbox}
          onChoose={setChosen}
        />
      )}
      <Chart
        name={`Time to arrive: ${nameOf(mailbox)}`}
        times={arrived.map(({ sent_at }: Json) => Date.parse(sent_at))}
        lines={[
          { name: 'Time to arrive', colour: '--accent', values: arrived.map(({ seconds }: Json): number => seconds) },
        ]}
        label={(at) => when(new Date(at).toISOString())}
        isStacked={false}
        heightPx={160}
        limit={lateAfter}
        format={secondsOf}
      />
    </div>
  )
}

const nameOf = (mailbox: string) => (mailbox === 'self' ? 'This server' : mailbox)
const secondsOf = (seconds: number) => `${Number(seconds.toPrecision(3))} s`
const RESULTS: Record<string, [word: string, tone: Tone]> = {
  pending: ['On its way', 'quiet'],
  inbox: ['Inbox', 'good'],
  late: ['Late', 'warn'],
  spam: ['Spam', 'bad'],
  unauthenticated: ['Not authenticated', 'bad'],
  missing: ['Missing', 'bad'],
  unchecked: ['Not checked', 'warn'],
}
