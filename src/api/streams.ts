import type { Follower } from '../event-stream/event-stream.ts'
import { Refusal } from '../model/refusal.ts'
import type { Clock } from '../os/clock.ts'
import { unavailable } from './errors.ts'
import { HEARTBEAT_MS, openStream } from './stream.ts'

/** The open event streams. */
export interface Streams {
  /** Opens a stream. Throws `rate_limited` above the limit of the key or organization, `unavailable` above the total
   *  limit. An organization without streams always gets its first one, so that others cannot take all of them. */
  open(reader: Reader): ReadableStream
  /** Number of open streams, and of events sent in total. */
  underWay(): number
  delivered(): number
  /** Ends all streams; clients resume with the last ID they received. */
  end(): void
  /** Ends all streams and rejects new ones. False if there were none. */
  close(): boolean
}

interface Reader {
  keyId: string
  organizationId: string
  holds: () => Promise<boolean>
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
  /** Function that ends the stream → its reader. */
  const open = new Map<() => void, Pick<Reader, 'keyId' | 'organizationId'>>()
  let delivered = 0
  let isClosed = false

  const requireCapacity = ({ keyId, organizationId }: Pick<Reader, 'keyId' | 'organizationId'>) => {
    if (isClosed) throw unavailable('This server is shutting down. Try again in a few seconds.')
    const present = [...open.values()]
    requireFewer(present.filter((each) => each.keyId === keyId).length, maxPerKey, 'of a key')
    const ofOrganization = present.filter((each) => each.organizationId === organizationId).length
    requireFewer(ofOrganization, maxPerOrganization, 'of an organization')
    // Organizations that use all streams still leave others their first one.
    const most = ofOrganization === 0 ? max * 2 : max
    if (open.size >= most) throw unavailable('Too many event streams are open. Try again later.')
  }

  const endAll = () => {
    for (const end of [...open.keys()]) end()
  }

  return {
    open: ({ keyId, organizationId, follow, ...reader }) => {
      requireCapacity({ keyId, organizationId })
      const onSent = (count: number) => {
        delivered += count
      }
      const stream = openStream({
        ...reader,
        follower: follow(),
        clock,
        onSent,
        onEnd: () => open.delete(stream.end),
      })
      open.set(stream.end, { keyId, organizationId })
      if (reader.signal.aborted) stream.end()
      return stream.body
    },
    underWay: () => open.size,
    delivered: () => delivered,
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
    retryAfterSeconds: HEARTBEAT_MS / 1000, // by then a broken connection has been detected
  })
}

const MAX_PER_KEY = 10
const MAX_PER_ORGANIZATION = 50
const MAX = 200
