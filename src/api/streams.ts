import type { Follower } from '../event-stream/event-stream.ts'
import { Refusal } from '../model/refusal.ts'
import type { Clock } from '../os/clock.ts'
import { unavailable } from './errors.ts'
import { HEARTBEAT_MS, openStream } from './stream.ts'

/** The streams of events that are open. */
export interface Streams {
  /** Opens one. Throws `rate_limited` past what a key or its organization may have, `unavailable` past what there may be in
   *  all: who makes many keys leaves room for others. An organization without any gets its first one also past that. */
  open(reader: Reader): ReadableStream
  /** How many there are, and how many events went through all there were. */
  underWay(): number
  told(): number
  /** Ends all of them; a client that comes back with the last id it saw misses nothing. */
  end(): void
  /** The same, and opens no more. False when there were none. */
  close(): boolean
}

interface Reader {
  keyId: string
  organizationId: string
  holds: () => boolean
  signal: AbortSignal
  follow: () => Follower
}

export function createStreams({
  clock,
  maxPerKey = MAX_PER_KEY,
  maxPerOrganization = MAX_PER_ORGANIZATION,
  max = MAX,
}: {
  clock: Clock
  maxPerKey?: number
  maxPerOrganization?: number
  max?: number
}): Streams {
  /** How to end each → whom it is for. */
  const open = new Map<() => void, Pick<Reader, 'keyId' | 'organizationId'>>()
  let told = 0
  let isClosed = false

  const requireRoom = ({ keyId, organizationId }: Pick<Reader, 'keyId' | 'organizationId'>) => {
    if (isClosed) throw unavailable('This server is shutting down. Try again in a few seconds.')
    const present = [...open.values()]
    requireFewer(present.filter((each) => each.keyId === keyId).length, maxPerKey, 'of a key')
    const ofOrganization = present.filter((each) => each.organizationId === organizationId).length
    requireFewer(ofOrganization, maxPerOrganization, 'of an organization')
    // Some organizations that have all of them leave the others their first one.
    const most = ofOrganization === 0 ? max * 2 : max
    if (open.size >= most) throw unavailable('Too many event streams are open. Try again later.')
  }

  const endAll = () => {
    for (const end of [...open.keys()]) end()
  }

  return {
    open: ({ keyId, organizationId, follow, ...reader }) => {
      requireRoom({ keyId, organizationId })
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
      open.set(stream.end, { keyId, organizationId })
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

function requireFewer(count: number, most: number, whose: string): void {
  if (count < most) return
  throw new Refusal('rate_limited', `More than ${most} event streams ${whose} at once. Close one first.`, {
    retryAfterSeconds: HEARTBEAT_MS / 1000, // by then one that was cut off is noticed
  })
}

const MAX_PER_KEY = 10
const MAX_PER_ORGANIZATION = 50
const MAX = 200
