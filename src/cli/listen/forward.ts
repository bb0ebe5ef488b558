import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { WEBHOOK_ATTEMPTS } from '../../events/webhooks/schedule.ts'
import { signEnveloped } from '../../events/webhooks/sign.ts'
import { backoffMs } from '../../os/backoff.ts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { VERSION } from '../../version.ts'
import type { Arrival } from './arrival.ts'

/** One attempt to post an event. */
export interface Posted {
  event: Arrival
  attempt: number
  /** Null without a response; then `error` contains the reason. */
  status: number | null
  error: string | null
  durationMs: number
  /** Wait before the next attempt; null after success or the last attempt. */
  retryInMs: number | null
}

export interface Forwarding {
  /** Starts posting the event and retries until a 2xx response, at most five attempts. Resolves when fewer than ten
   *  events are in progress. Never rejects. */
  take(event: Arrival): Promise<void>
}

/** Posts events like a webhook: the same headers, signatures and number of attempts, at most ten events at once. The
 *  waits are short, since a developer is watching. Does not follow redirects. `onPosted` gets every attempt. Stops when
 *  `signal` aborts. */
export function createForwarding(options: {
  to: URL
  secret: string
  clock: Clock
  random: Random
  signal: AbortSignal
  onPosted: (posted: Posted) => void
}): Forwarding {
  const { to, secret, clock, random, signal, onPosted } = options
  const inFlight = new Set<Promise<void>>()

  const deliver = async (event: Arrival) => {
    for (let attempt = 1; !signal.aborted; attempt++) {
      const startedAt = clock.now()
      const secrets = { secret, previous: null }
      const headers = signEnveloped({ secrets, eventId: event.id, body: event.body, attempt, now: startedAt })
      const { status, error } = await post(to, headers, event.body, signal)
      if (signal.aborted) return
      const isAccepted = status !== null && status >= 200 && status < 300
      const isOver = isAccepted || attempt === WEBHOOK_ATTEMPTS
      const retryInMs = isOver ? null : backoffMs(WAITS_SECONDS, attempt, JITTER, random)
      onPosted({ event, attempt, status, error, durationMs: clock.now() - startedAt, retryInMs })
      if (retryInMs === null) return
      await clock.sleep(retryInMs, signal)
    }
  }

  return {
    take: async (event) => {
      const delivery: Promise<void> = deliver(event).finally(() => inFlight.delete(delivery))
      inFlight.add(delivery)
      if (inFlight.size >= MAX_AT_ONCE) await Promise.race(inFlight)
    },
  }
}

/** Waits before attempts 2 to 5. */
const WAITS_SECONDS = [1, 2, 4, 8]
const JITTER = 0.2
const MAX_AT_ONCE = 10
/** For the whole response, as for webhooks. */
const TIMEOUT_MS = 30_000

/** Uses node:http, which ignores proxy environment variables. Never rejects. */
function post(to: URL, headers: Record<string, string>, body: string, signal: AbortSignal) {
  const request = to.protocol === 'https:' ? httpsRequest : httpRequest
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  return new Promise<Pick<Posted, 'status' | 'error'>>((resolve) => {
    const asked = request(
      to,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body), 'user-agent': `Postrider/${VERSION}` },
        agent: false,
        signal: ended,
      },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve({ status: answer.statusCode ?? null, error: null }))
        answer.on('error', (error) => resolve({ status: null, error: error.message }))
      },
    )
    asked.on('error', (error) => resolve({ status: null, error: ended.aborted ? 'timed out' : error.message }))
    asked.end(body)
  })
}
