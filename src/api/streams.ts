import type { Follower } from '../live/feed.ts'
import type { Event } from '../model/event.ts'
import { Refusal } from '../model/refusal.ts'
import type { Clock } from '../platform/clock.ts'
import { unavailable } from './errors.ts'

/** The streams of events that are open (server-sent events, HTML Living Standard §9.2). */
export interface Streams {
  /** Follows for a key, until the client goes, `end` is called, `holds` says that the key does not any more, or the store
   *  cannot be read. Throws `rate_limited` past what a key may have, `unavailable` past what there may be in all. */
  open(reader: { keyId: string; holds: () => boolean; signal: AbortSignal; follow: () => Follower }): ReadableStream
  /** How many there are, and how many events went through all there were. */
  underWay(): number
  told(): number
  /** Ends all of them; a client that comes back with the last id it saw misses nothing. */
  end(): void
  /** The same, and opens no more. False when there were none. */
  close(): boolean
}

/** Clock and bounds → Streams. What a slow client does not read is not fetched either: a stream asks its follower only when
 *  the socket takes more, and a client that takes nothing for a minute is cut off by the listener. */
export function createStreams({ clock, maxPerKey = MAX_PER_KEY, max = MAX }: StreamsOptions): Streams {
  const open = new Map<() => void, string>()
  let told = 0
  let isClosed = false

  const endAll = () => {
    for (const end of [...open.keys()]) end()
  }

  const requireRoom = (keyId: string) => {
    if (isClosed) throw unavailable('this server is shutting down')
    if (open.size >= max) throw unavailable('too many event streams are open')
    const own = [...open.values()].filter((each) => each === keyId).length
    if (own < maxPerKey) return
    throw new Refusal('rate_limited', `more than ${maxPerKey} event streams at once`, {
      retryAfterSeconds: HEARTBEAT_MS / 1000,
    })
  }

  return {
    open: ({ keyId, holds, signal, follow }) => {
      requireRoom(keyId)
      const follower = follow()
      let controller: ReadableStreamDefaultController<Uint8Array>
      let lookedAt = clock.now()
      let coming: Promise<Event[]> | null = null
      let saidId: string | null = null

      const end = () => {
        if (!open.delete(end)) return
        follower.end()
        signal.removeEventListener('abort', end)
        try {
          controller.close()
        } catch {
          // the client has closed it
        }
      }
      const mayGoOn = () => {
        if (clock.now() - lookedAt < HEARTBEAT_MS) return true
        lookedAt = clock.now()
        return holds()
      }
      /** The next events; null when there were none for so long that something should be said. */
      const nextEvents = async () => {
        coming ??= follower.next()
        coming.catch(() => {}) // it is asked for again below, perhaps only after another heartbeat
        const nap = new AbortController()
        const silence = clock.sleep(HEARTBEAT_MS, nap.signal).then(() => null)
        const events = await Promise.race([coming, silence])
        nap.abort()
        if (events !== null) coming = null
        return events
      }

      /** How far it has come, in an event without data: a client that comes back need not begin further behind, perhaps
       *  behind an event that is no longer kept. A comment when that was said already. */
      const sayPassed = () => {
        const id = follower.passed()
        if (id === null || id === saidId) return ':\n\n'
        saidId = id
        return `id: ${id}\n\n`
      }

      open.set(end, keyId)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      return new ReadableStream<Uint8Array>(
        {
          start: (given) => {
            controller = given
            // At once: without a first byte the client does not even get the headers.
            given.enqueue(encoder.encode(RETRY + sayPassed()))
          },
          pull: async () => {
            const events = await nextEvents().catch(() => [])
            if (!open.has(end)) return
            if (events?.length === 0 || !mayGoOn()) return end()
            told += events?.length ?? 0
            saidId = events?.at(-1)?.id ?? saidId
            controller.enqueue(encoder.encode(events === null ? sayPassed() : events.map(toText).join('')))
          },
          cancel: end,
        },
        { highWaterMark: 0 },
      )
    },
    underWay: () => open.size,
    told: () => told,
    end: endAll,
    close: () => {
      const hadSome = open.size > 0
      isClosed = true
      endAll()
      return hadSome
    },
  }
}

interface StreamsOptions {
  clock: Clock
  maxPerKey?: number
  max?: number
}

/** An event as a stream has it. The envelope is one line, since JSON has no line ends outside of its strings' escapes. */
export function toText({ id, type, body }: Pick<Event, 'id' | 'type' | 'body'>): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}

const encoder = new TextEncoder()
/** How long a browser waits before it comes back, in ms. */
const RETRY = 'retry: 3000\n'
/** Something is said so often, so that a quiet connection stays open and a broken one is noticed; the listener cuts after
 *  60 s. */
const HEARTBEAT_MS = 15_000
const MAX_PER_KEY = 10
const MAX = 200
