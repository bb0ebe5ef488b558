import { errorOf, type PostriderError } from './errors.ts'
import { aborted, exchange, failureOf, NEVER, respond } from './exchange.ts'
import { type Limit, limited } from './limit.ts'
import type { Page } from './pages.ts'
import { parseResponse } from './response.ts'
import { canRetry, pauseMs } from './retry.ts'
import { serverSent } from './server-sent.ts'
import type { Event } from './types.ts'
import type { ApiRequest, Wire } from './wire.ts'

/** Time without data after which the connection counts as lost. The server sends data at least every 15 s. */
const SILENT_MS = 45_000

/** Live events: `for await (const event of postrider.events.stream())`. Connects when iteration starts, and yields the
 *  events from then on, or those after the event `after`.
 *
 *  If the connection fails, it reconnects and resumes after the last received event, so that no event is missed or
 *  repeated. Only before the first connection succeeds, `maxRetries` limits the attempts. Iteration ends with `break`.
 *  It throws an `AbortError` if the signal is aborted, and the `PostriderError` if the server rejects the request. */
export class EventStream<T = Event> implements AsyncIterable<T> {
  readonly #wire: Wire
  readonly #requestAfter: (after: string) => ApiRequest
  readonly #after: string | undefined
  readonly #shown: (event: Event) => T

  /** `requestAfter` creates the request for events after an event ID, or from the oldest event for ''. `after` is the
   *  event to start after; undefined starts with new events. `shown` converts each event. */
  constructor(
    wire: Wire,
    requestAfter: (after: string) => ApiRequest,
    after: string | undefined,
    shown: (event: Event) => T,
  ) {
    this.#wire = wire
    this.#requestAfter = requestAfter
    this.#after = after
    this.#shown = shown
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { clock } = this.#wire
    let after = this.#after ?? (await this.#newest())
    let isBegun = false
    let retryMs = 0
    for (let failures = 0; ; failures++) {
      const request = this.#requestAfter(after)
      const limit = limited(clock, request.timeoutMs, request.signal)
      let failure = ENDED
      try {
        const chunks = await this.#connect(request, limit)
        isBegun = true
        for await (const { id, data } of serverSent(chunks, (ms) => {
          retryMs = ms
        })) {
          after = id || after // none while the organization has no events
          failures = 0
          if (data !== null) yield this.#shown(JSON.parse(data))
        }
      } catch (error) {
        failure = failureOf(error, this.#wire, request, limit)
      } finally {
        limit.end()
      }
      const canReconnect = canRetry(failure, true) || failure.code === 'timed_out'
      if (!canReconnect || (!isBegun && failures >= request.maxRetries)) throw failure
      await clock.sleep(retryMs + pauseMs(failure, failures, clock.random()), request.signal ?? NEVER)
      if (request.signal?.aborted) throw aborted(request)
    }
  }

  /** ID of the newest event, '' if there is none. Without it, a reconnect before the first event would skip the events
   *  since iteration started. */
  async #newest(): Promise<string> {
    const newest = await exchange<Page<Event>>(this.#wire, {
      ...this.#requestAfter(''),
      path: '/v1/events?limit=1',
      headers: {},
    })
    return newest.data.data[0]?.id ?? ''
  }

  async #connect(request: ApiRequest, limit: Limit): Promise<AsyncIterable<Uint8Array>> {
    const response = await respond(this.#wire, request, limit)
    const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream && response.body !== null) return chunksOf(response.body, limit)
    parseResponse(response, new Uint8Array(await response.arrayBuffer()), request)
    throw errorOf({ code: 'unexpected_answer', message: 'an unexpected content type', status: response.status })
  }
}

/** Chunks of a response body. The limit applies to the time between chunks, not to the time that the caller takes to
 *  process them. */
async function* chunksOf(body: ReadableStream<Uint8Array>, limit: Limit): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      limit.restart(SILENT_MS)
      const { done, value } = await reader.read()
      limit.pause()
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => {}) // rejects if the connection has failed
  }
}

const ENDED: PostriderError = errorOf({ code: 'connection_failed', message: 'The event stream ended.' })
