import type { Follower } from '../event-stream/event-stream.ts'
import type { Event } from '../model/event.ts'
import type { Clock } from '../os/clock.ts'

/** Follower → text of an event stream (server-sent events, HTML Living Standard §9.2). It ends when `end` is called,
 *  the client disconnects, `holds` returns false, or the store cannot be read; then `onEnd` is called once.
 *  Backpressure: the follower is read only when the socket accepts more. */
export function openStream(options: {
  follower: Follower
  /** Checked at every heartbeat. */
  holds: () => Promise<boolean>
  signal: AbortSignal
  clock: Clock
  onSent: (count: number) => void
  onEnd: () => void
}): { body: ReadableStream<Uint8Array>; end: () => void } {
  const { follower, holds, signal, clock, onSent, onEnd } = options
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

  const mayGoOn = async () => {
    if (clock.now() - askedAt < HEARTBEAT_MS) return true
    askedAt = clock.now()
    return holds()
  }

  /** The next events; null if a heartbeat is due first. */
  const nextEvents = async () => {
    coming ??= follower.next()
    coming.catch(() => {}) // requested again below, perhaps after another heartbeat
    const sleep = new AbortController()
    const silence = clock.sleep(HEARTBEAT_MS, sleep.signal).then(() => null)
    const events = await Promise.race([coming, silence])
    sleep.abort()
    if (events !== null) coming = null
    return events
  }

  const sayEvents = (events: readonly Event[]) => {
    onSent(events.length)
    saidId = events.at(-1)?.id ?? saidId
    return events.map(toText).join('')
  }

  /** The current position, as an event without data, so that a reconnecting client does not resume before events that
   *  are no longer stored. A comment if the position has not changed. */
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
        // Sent immediately: without a first byte the client does not get the headers.
        given.enqueue(encoder.encode(RETRY + sayPassed()))
      },
      pull: async () => {
        const events = await nextEvents().catch(() => [])
        if (isEnded) return
        if (events?.length === 0 || !(await mayGoOn())) return end()
        controller.enqueue(encoder.encode(events === null ? sayPassed() : sayEvents(events)))
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  signal.addEventListener('abort', end)
  return { body, end }
}

/** The envelope is one line: JSON escapes line breaks in strings. */
function toText({ id, type, body }: Event): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}

/** Heartbeats keep a quiet connection open and reveal a broken one; the listener closes connections that accept
 *  nothing for 60 s. */
export const HEARTBEAT_MS = 15_000
/** Reconnect delay of browsers, in ms. */
const RETRY = 'retry: 3000\n'
const encoder = new TextEncoder()
