import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { backoffMs } from '../../os/backoff.ts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { VERSION } from '../../version.ts'
import { WEBHOOK_ATTEMPTS } from '../../webhooks/schedule.ts'
import { signEnveloped } from '../../webhooks/sign.ts'
import type { Arrival } from './arrival.ts'

/** One attempt to post an event. */
export interface Posted {
  event: Arrival
  attempt: number
  /** Null when there was no answer; then `error` says why. */
  status: number | null
  error: string | null
  durationMs: number
  /** Until the next attempt; null when there is none, because it went well or was the last. */
  againMs: number | null
}

export interface Forwarding {
  /** Posts the event, and again until it is answered 2xx, five times at most. Resolves once there is room for another. */
  take(event: Arrival): Promise<void>
}

/** Where to, and signed with what → Forwarding: what a webhook gets (headers, signatures, five attempts, ten at once), only
 *  that the waits are short, since somebody sits there. Redirects are answers like others. */
export function createForwarding(options: {
  to: URL
  secret: string
  clock: Clock
  random: Random
  signal: AbortSignal
  onPosted: (posted: Posted) => void
}): Forwarding {
  const { to, secret, clock, random, signal, onPosted } = options
  const underWay = new Set<Promise<void>>()

  const deliver = async (event: Arrival) => {
    for (let attempt = 1; !signal.aborted; attempt++) {
      const startedAt = clock.now()
      const secrets = { secret, previous: null }
      const headers = signEnveloped({ secrets, eventId: event.id, body: event.body, attempt, now: startedAt })
      const { status, error } = await post(to, headers, event.body, signal)
      if (signal.aborted) return
      const isTaken = status !== null && status >= 200 && status < 300
      const isOver = isTaken || attempt === WEBHOOK_ATTEMPTS
      const againMs = isOver ? null : backoffMs(WAITS_SECONDS, attempt, JITTER, random)
      onPosted({ event, attempt, status, error, durationMs: clock.now() - startedAt, againMs })
      if (againMs === null) return
      await clock.sleep(againMs, signal)
    }
  }

  return {
    take: async (event) => {
      const delivery: Promise<void> = deliver(event).finally(() => underWay.delete(delivery))
      underWay.add(delivery)
      if (underWay.size >= MAX_AT_ONCE) await Promise.race(underWay)
    },
  }
}

/** Before attempts 2 to 5. */
const WAITS_SECONDS = [1, 2, 4, 8]
const JITTER = 0.2
const MAX_AT_ONCE = 10
/** contract §4: for the whole answer. */
const TIMEOUT_MS = 30_000

/** node:http, because it takes no notice of proxies in the environment. Never rejects. */
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
    asked.on('error', (error) => resolve({ status: null, error: ended.aborted ? 'no answer in time' : error.message }))
    asked.end(body)
  })
}
