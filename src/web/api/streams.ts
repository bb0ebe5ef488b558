import type { Follower } from '../../events/event-stream/event-stream.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Clock } from '../../os/clock.ts'
import { unavailable } from './errors.ts'
import { HEARTBEAT_MS, openStream } from './stream.ts'

/** The open event streams. */
export interface Streams {
  /** Opens a stream (stream.ts). Throws `rate_limited` above the limit of the key or organization, and `unavailable`
   *  above the limit of the server or after `close`. An organization without streams gets its first one even above that
   *  limit, up to twice the limit, so that others cannot take all of them. */
  open(reader: Reader): ReadableStream
  /** Number of open streams. */
  underWay(): number
  /** Number of events sent on all streams since the start. */
  delivered(): number
  /** Ends all streams. Clients can resume with the last ID they received. */
  end(): void
  /** Ends all streams and rejects new ones. Returns false if none was open. */
  close(): boolean
}

interface Reader {
  keyId: string
  organizationId: string
  /** Resolves with true if the key is still valid. */
  isKeyValid: () => Promise<boolean>
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Starts to follow the events. Called only if the stream is within the limits. */
  follow: () => Follower
}

/** Creates Streams from a clock and limits; none is open. Default limits: 10 streams per key, 50 per organization, 200 in
 *  total. */
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
    // The first stream of an organization is allowed even if others use all streams.
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
    retryAfterSeconds: HEARTBEAT_MS / 1000, // the next heartbeat may detect a broken connection
  })
}

const MAX_PER_KEY = 10
const MAX_PER_ORGANIZATION = 50
const MAX = 200
