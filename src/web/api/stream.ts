import type { Follower } from '../../events/event-stream/event-stream.ts'
import type { Event } from '../../model/event.ts'
import type { Clock } from '../../os/clock.ts'
import { within } from '../../os/within.ts'

/** Follower → an event stream in the format of server-sent events (HTML Living Standard §9.2), and a function that ends
 *  it. The stream also ends when the client disconnects, `isKeyValid` resolves with false, or the store cannot be read.
 *  It calls `onEnd` once. It reads the follower only when the socket accepts more data. */
export function openStream(options: {
  follower: Follower
  /** Resolves with true if the key is still valid. Called about every second. */
  isKeyValid: () => Promise<boolean>
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  clock: Clock
  /** Called with the number of events that were just sent. */
  onSent: (count: number) => void
  onEnd: () => void
}): { body: ReadableStream<Uint8Array>; end: () => void } {
  const { follower, isKeyValid, signal, clock, onSent, onEnd } = options
  let controller: ReadableStreamDefaultController<Uint8Array>
  let isEnded = false
  let askedAt = clock.now()
  let sentAt = clock.now()
  let coming: Promise<Event[]> | null = null
  let sentId: string | null = null

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

  const mayContinue = async () => {
    if (clock.now() - askedAt < CHECK_MS) return true
    askedAt = clock.now()
    return isKeyValid()
  }

  /** Resolves with the next events, or with null if a check of the key is due first. */
  const nextEvents = async () => {
    coming ??= follower.next()
    coming.catch(() => {}) // prevents an unhandled rejection: a later call awaits `coming` again
    const events = await within(clock, CHECK_MS, coming)
    if (events !== null) coming = null
    return events
  }

  const eventsText = (events: readonly Event[]) => {
    onSent(events.length)
    sentId = events.at(-1)?.id ?? sentId
    return events.map(toText).join('')
  }

  /** The follower's position as an `id` without data. A client that reconnects with it does not resume at an event that
   *  is no longer stored. A comment if the position was sent before. */
  const positionText = () => {
    const id = follower.passed()
    if (id === null || id === sentId) return ':\n\n'
    sentId = id
    return `id: ${id}\n\n`
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
        // Sent immediately, because Bun sends the headers with the first byte of the body.
        given.enqueue(encoder.encode(RETRY + positionText()))
      },
      pull: async () => {
        let text: string | null = null
        while (text === null) {
          const events = await nextEvents().catch(() => [])
          if (isEnded) return
          if (events?.length === 0 || !(await mayContinue())) return end()
          if (events !== null) text = eventsText(events)
          else if (clock.now() - sentAt >= HEARTBEAT_MS) text = positionText()
        }
        sentAt = clock.now()
        controller.enqueue(encoder.encode(text))
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  signal.addEventListener('abort', end)
  return { body, end }
}

/** Event → its text in the stream. The data fits in one line, because JSON escapes line breaks in strings. */
function toText({ id, type, body }: Event): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}

/** How long a stream may go on after its key, or the role of its user, has ended. */
const CHECK_MS = 1_000
/** Maximum time without data. Heartbeats keep an idle connection open and detect a broken one: the listener closes
 *  connections that accept no data for 60 s. */
export const HEARTBEAT_MS = 15_000
/** Sets the reconnect delay of browsers, in ms. */
const RETRY = 'retry: 3000\n'
const encoder = new TextEncoder()
