import { errorOf, type PostriderError } from './errors.ts'
import { aborted, exchange, failureOf, NEVER, respond } from './exchange.ts'
import { type Limit, limited } from './limit.ts'
import type { Page } from './pages.ts'
import { parseResponse } from './response.ts'
import { mayGoAgain, pauseMs } from './retry.ts'
import { serverSent } from './server-sent.ts'
import type { Event } from './types.ts'
import type { Ask, Wire } from './wire.ts'

/** The server sends something every 15 s; after 45 s of silence the connection counts as lost. */
const SILENT_MS = 45_000

/** Live events: `for await (const event of postrider.events.stream())`. Starts when iterated: now, or after `after`.
 *  After the first connection it reconnects automatically and resumes after the last received event, so no event is
 *  missed or repeated. It ends with `break`, with its signal (an AbortError), or with an error from the server. */
export class EventStream implements AsyncIterable<Event> {
  readonly #wire: Wire
  readonly #askBehind: (after: string) => Ask
  readonly #after: string | undefined

  /** `askAfter` creates the request for events after an ID; '' = from the oldest. */
  constructor(wire: Wire, askAfter: (after: string) => Ask, after: string | undefined) {
    this.#wire = wire
    this.#askBehind = askAfter
    this.#after = after
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const { clock } = this.#wire
    let after = this.#after ?? (await this.#newest())
    let isBegun = false
    let retryMs = 0
    for (let failures = 0; ; failures++) {
      const ask = this.#askBehind(after)
      const limit = limited(clock, ask.timeoutMs, ask.signal)
      let failure = ENDED
      try {
        const chunks = await this.#connect(ask, limit)
        isBegun = true
        for await (const { id, data } of serverSent(chunks, (ms) => {
          retryMs = ms
        })) {
          after = id
          failures = 0
          if (data !== null) yield JSON.parse(data) as Event
        }
      } catch (error) {
        failure = failureOf(error, this.#wire, ask, limit)
      } finally {
        limit.end()
      }
      const canReconnect = mayGoAgain(failure, true) || failure.code === 'timed_out'
      if (!canReconnect || (!isBegun && failures >= ask.maxRetries)) throw failure
      await clock.sleep(retryMs + pauseMs(failure, failures, clock.random()), ask.signal ?? NEVER)
      if (ask.signal?.aborted) throw aborted(ask)
    }
  }

  /** The current position. Without it, events before the first one received could be missed. */
  async #newest(): Promise<string> {
    const newest = await exchange<Page<Event>>(this.#wire, {
      ...this.#askBehind(''),
      path: '/v1/events?limit=1',
      headers: {},
    })
    return newest.data.data[0]?.id ?? ''
  }

  async #connect(ask: Ask, limit: Limit): Promise<AsyncIterable<Uint8Array>> {
    const response = await respond(this.#wire, ask, limit)
    const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream && response.body !== null) return chunksOf(response.body, limit)
    parseResponse(response, new Uint8Array(await response.arrayBuffer()), ask)
    throw errorOf({ code: 'unexpected_answer', message: 'an unexpected content type', status: response.status })
  }
}

/** The limit applies to the server's silence, not to the caller's processing time. */
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
    void reader.cancel().catch(() => {}) // it may be broken already
  }
}

const ENDED: PostriderError = errorOf({ code: 'connection_failed', message: 'The event stream ended.' })
