import type { Follower } from '../live/feed.ts'
import { Refusal } from '../model/refusal.ts'
import type { Clock } from '../platform/clock.ts'
import { unavailable } from './errors.ts'
import { HEARTBEAT_MS, openStream } from './stream.ts'

/** The streams of events that are open. */
export interface Streams {
  /** Opens one for a key. Throws `rate_limited` past what a key may have, `unavailable` past what there may be in all. */
  open(reader: { keyId: string; holds: () => boolean; signal: AbortSignal; follow: () => Follower }): ReadableStream
  /** How many there are, and how many events went through all there were. */
  underWay(): number
  told(): number
  /** Ends all of them; a client that comes back with the last id it saw misses nothing. */
  end(): void
  /** The same, and opens no more. False when there were none. */
  close(): boolean
}

export function createStreams({
  clock,
  maxPerKey = MAX_PER_KEY,
  max = MAX,
}: {
  clock: Clock
  maxPerKey?: number
  max?: number
}): Streams {
  /** How to end each → the key it is for. */
  const open = new Map<() => void, string>()
  let told = 0
  let isClosed = false

  const requireRoom = (keyId: string) => {
    if (isClosed) throw unavailable('this server is shutting down')
    if (open.size >= max) throw unavailable('too many event streams are open')
    const own = [...open.values()].filter((each) => each === keyId).length
    if (own < maxPerKey) return
    throw new Refusal('rate_limited', `more than ${maxPerKey} event streams at once`, {
      retryAfterSeconds: HEARTBEAT_MS / 1000, // by then one that was cut off is noticed
    })
  }

  const endAll = () => {
    for (const end of [...open.keys()]) end()
  }

  return {
    open: ({ keyId, follow, ...reader }) => {
      requireRoom(keyId)
      const onTold = (count: number) => {
        told += count
      }
      const stream = openStream({
        ...reader,
        follower: follow(),
        clock,
        onTold,
        onEnd: () => open.delete(stream.end),
      })
      open.set(stream.end, keyId)
      if (reader.signal.aborted) stream.end()
      return stream.body
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

const MAX_PER_KEY = 10
const MAX = 200
