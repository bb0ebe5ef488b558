import type { Follower } from '../event-stream/event-stream.ts'
import type { Event } from '../model/event.ts'
import type { Clock } from '../os/clock.ts'

/** A follower → the text of a stream (server-sent events, HTML Living Standard §9.2) that goes on until `end` is called, the
 *  client goes, `holds` says no, or the store cannot be read; then `onEnd` is called, once. What a slow client does not
 *  take is not fetched either: the follower is asked only when the socket takes more. */
export function openStream(options: {
  follower: Follower
  /** Asked at every heartbeat. */
  holds: () => boolean
  signal: AbortSignal
  clock: Clock
  onTold: (count: number) => void
  onEnd: () => void
}): { body: ReadableStream<Uint8Array>; end: () => void } {
  const { follower, holds, signal, clock, onTold, onEnd } = options
  let controller: ReadableStreamDefaultController<Uint8Array>
  let isEnded = false
  let askedAt = clock.now()
  let coming: Promise<Event[]> | null = null
  let saidId: string | null = null

  const end = () => {
    if (isEnded) return
    isEnded = true
    follower.end()
    signal.removeEventListener('abort', end)
    onEnd()
    try {
      controller.close()
    } catch {
      // the client has closed it
    }
  }

  const mayGoOn = () => {
    if (clock.now() - askedAt < HEARTBEAT_MS) return true
    askedAt = clock.now()
    return holds()
  }

  /** The next events; null when there were none for so long that something should be said. */
  const nextEvents = async () => {
    coming ??= follower.next()
    coming.catch(() => {}) // it is asked for again below, perhaps only after another heartbeat
    const sleep = new AbortController()
    const silence = clock.sleep(HEARTBEAT_MS, sleep.signal).then(() => null)
    const events = await Promise.race([coming, silence])
    sleep.abort()
    if (events !== null) coming = null
    return events
  }

  const sayEvents = (events: readonly Event[]) => {
    onTold(events.length)
    saidId = events.at(-1)!.id
    return events.map(toText).join('')
  }

  /** How far it has come, in an event without data: a client that comes back need not begin further behind, perhaps behind
   *  an event that is no longer kept. A comment when that was said already. */
  const sayPassed = () => {
    const id = follower.passed()
    if (id === null || id === saidId) return ':\n\n'
    saidId = id
    return `id: ${id}\n\n`
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
        // At once: without a first byte the client does not even get the headers.
        given.enqueue(encoder.encode(RETRY + sayPassed()))
      },
      pull: async () => {
        const events = await nextEvents().catch(() => [])
        if (isEnded) return
        if (events?.length === 0 || !mayGoOn()) return end()
        controller.enqueue(encoder.encode(events === null ? sayPassed() : sayEvents(events)))
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  signal.addEventListener('abort', end)
  return { body, end }
}

/** The envelope is one line, since JSON has no line ends outside of its strings' escapes. */
function toText({ id, type, body }: Event): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}

/** Something is said so often, so that a quiet connection stays open and a broken one is noticed; the listener cuts what
 *  takes nothing for 60 s. */
export const HEARTBEAT_MS = 15_000
/** How long a browser waits before it comes back, in ms. */
const RETRY = 'retry: 3000\n'
const encoder = new TextEncoder()
