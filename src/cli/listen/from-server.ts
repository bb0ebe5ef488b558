import { serverSent } from '../../client/server-sent.ts'
import { backoffMs } from '../../os/backoff.ts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { fieldOf } from '../../os/records.ts'
import { errorCode, messageOf } from '../../os/thrown.ts'
import { VERSION } from '../../version.ts'
import { CommandFailure } from '../failure.ts'
import { sanitize } from '../print.ts'
import { apiUrl } from '../server-access.ts'
import { type Arrival, arrivalOf } from './arrival.ts'

/** Yields the events of a server, read over HTTP, until `signal` aborts.
 *
 *  After a lost connection or three missed heartbeats it reconnects with the last id, so that no event is missing or
 *  repeated. Throws CommandFailure if a retry cannot help: a rejected key, an unknown `after` event, or not a Postrider
 *  server. */
export async function* fromServer(
  wanted: { url: URL; key: string; types: readonly string[] | null; after: string | undefined },
  deps: { clock: Clock; random: Random; signal: AbortSignal; onBreak: (reason: string, waitMs: number) => void },
): AsyncGenerator<Arrival> {
  const { clock, random, signal, onBreak } = deps
  let after = wanted.after
  for (let failures = 0; !signal.aborted; ) {
    let reason = 'the server closed the stream'
    const startedAt = clock.now()
    let askedMs = 0
    try {
      const connection = await connect(wanted, after, deps)
      if ('refused' in connection) ({ refused: reason, askedMs } = connection)
      else
        for await (const { id, type, data } of connection.read()) {
          if (data !== null) {
            failures = 0
            yield arrivalOf({ id, type, data }) ?? noEvents()
          }
          // '' after a connection without IDs: the organization has no events yet, so every later one is new.
          after = id || after || ''
        }
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      reason = wordsOf(error)
    }
    if (signal.aborted) return
    // A connection that lasted resets the backoff; one that ends at once increases it.
    failures = clock.now() - startedAt > STABLE_MS ? 1 : failures + 1
    const waitMs = Math.max(backoffMs(WAITS_SECONDS, failures, JITTER, random), askedMs)
    onBreak(reason, waitMs)
    await clock.sleep(waitMs, signal)
  }
}

const WAITS_SECONDS = [0.5, 1, 2, 5, 10, 30]
/** Spreads the reconnects of many clients over time. */
const JITTER = 0.5
/** Three heartbeats (web/api/streams.ts). */
const SILENCE_MS = 45_000
const STABLE_MS = 20_000
const MAX_ASKED_MS = 60_000

async function connect(
  { url, key, types }: Parameters<typeof fromServer>[0],
  after: string | undefined,
  { clock, signal }: Pick<Parameters<typeof fromServer>[1], 'clock' | 'signal'>,
) {
  const lost = new AbortController()
  const silence = watchSilence(clock, () => lost.abort(new Error('no heartbeat from the server')))
  const answer = await fetch(streamUrl(url, types, after), {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'user-agent': `Postrider/${VERSION}` },
    redirect: 'error',
    signal: AbortSignal.any([signal, lost.signal]),
  }).catch((error) => {
    silence.end()
    throw error
  })
  if (!answer.ok) {
    silence.end()
    return refusal(answer)
  }
  return {
    async *read() {
      const heard = async function* () {
        for await (const bytes of streamOf(answer)) {
          silence.reset()
          yield bytes
        }
      }
      try {
        yield* serverSent(heard(), () => {})
      } finally {
        silence.end()
        lost.abort()
      }
    },
  }
}

function streamUrl(base: URL, types: readonly string[] | null, after: string | undefined): URL {
  const url = apiUrl(base, '/v1/events/stream')
  if (types !== null) url.searchParams.set('types', types.join(','))
  if (after !== undefined) url.searchParams.set('after', after)
  return url
}

function streamOf(answer: Response): ReadableStream<Uint8Array> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream && answer.body !== null) return answer.body
  return noEvents()
}

function noEvents(): never {
  throw new CommandFailure('url: not a Postrider server. Check the address.')
}

/** Response with an error status → the reason, and the wait that the server asks for. Throws CommandFailure for a
 *  permanent refusal. */
async function refusal(answer: Response): Promise<{ refused: string; askedMs: number }> {
  const body: unknown = await answer.json().catch(() => null)
  const message = sanitize(String(fieldOf(fieldOf(body, 'error'), 'message') ?? 'no reason given'))
  const said = `the server answered ${answer.status}: ${message}`
  if (answer.status !== 429 && answer.status < 500) throw new CommandFailure(said)
  const askedMs = Number(answer.headers.get('retry-after') ?? 0) * 1000
  return { refused: said, askedMs: askedMs > 0 ? Math.min(askedMs, MAX_ASKED_MS) : 0 }
}

/** Calls `onSilence` once if nothing arrives for SILENCE_MS. */
function watchSilence(clock: Clock, onSilence: () => void) {
  const end = new AbortController()
  let lastAt = clock.now()
  const watch = async () => {
    while (!end.signal.aborted) {
      const leftMs = lastAt + SILENCE_MS - clock.now()
      if (leftMs <= 0) return onSilence()
      await clock.sleep(leftMs, end.signal)
    }
  }
  void watch()
  return {
    reset: () => {
      lastAt = clock.now()
    },
    end: () => end.abort(),
  }
}

/** Error of a connection → its reason, for the terminal. */
function wordsOf(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'connection refused'
  return messageOf(error)
}
