import type { LookupType } from '../net/dns/lookup-types.ts'
import type { Lookup, Resolver } from '../net/dns/resolver.ts'
import type { Clock } from '../os/clock.ts'

/** What a reader cannot do itself and asks the main thread for: it has neither network nor keys. A request names the job it
 *  is for, so that the main thread knows what that job may ask (reader-services.ts). */
export type ReaderRequest = { kind: 'request'; id: number; jobId: number } & (
  | { what: 'lookup'; type: LookupType; name: string }
  /** The canonical header text that an ARC field of seal number `seal` is to sign (RFC 8617 §5.1.1). */
  | { what: 'sign'; seal: number; text: Uint8Array }
)

/** `value`: a Lookup, or the signature; null = refused. */
export interface RequestReply {
  kind: 'reply'
  id: number
  value: unknown
}

type OmitFromEach<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never

/** The reader's end. */
export interface Requests {
  /** Takes a message; true when it was a reply. */
  onReply(message: unknown): boolean
  /** The DNS as mailauth's adapter asks it. `onReply` runs before what waits for the answer goes on. */
  resolver(jobId: number, onReply: () => void): Resolver
  /** Canonical header text → its RSA signature; rejects when it is refused. */
  sign(jobId: number, seal: number, text: Uint8Array): Promise<Uint8Array>
}

/** `clock`: for how long an answer of the DNS holds; asking for each again was a third of what a small mail costs. */
export function createRequests(post: (message: ReaderRequest) => void, clock: Clock): Requests {
  const open = new Map<number, (value: unknown) => void>()
  let lastId = 0
  const remembered = new Map<string, { found: Lookup<never>; until: number }>()
  const remember = (key: string, found: Lookup<never>) => {
    if (found.kind === 'temporary' || isLarge(found)) return
    remembered.delete(key)
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
    const seconds = found.kind === 'records' ? found.ttlSeconds : NOTHING_SECONDS
    remembered.set(key, { found, until: clock.now() + seconds * 1000 })
  }
  const ask = (request: OmitFromEach<ReaderRequest, 'kind' | 'id'>) =>
    new Promise<unknown>((resolve) => {
      const id = ++lastId
      open.set(id, resolve)
      post({ kind: 'request', id, ...request } as ReaderRequest)
    })
  return {
    onReply: (message) => {
      const { kind, id, value } = message as Partial<RequestReply>
      if (kind !== 'reply') return false
      open.get(id!)?.(value)
      open.delete(id!)
      return true
    },
    resolver: (jobId, onReply) => {
      const lookup = async (type: LookupType, name: string): Promise<Lookup<never>> => {
        const key = `${type} ${name.toLowerCase()}`
        const known = remembered.get(key)
        if (known !== undefined && known.until > clock.now()) return known.found
        const found = (await ask({ jobId, what: 'lookup', type, name })) as Lookup<never> | null
        onReply()
        if (found === null) return { kind: 'temporary', reason: 'too many lookups' }
        remember(key, found)
        return found
      }
      const notAsked = async () => ({ kind: 'temporary' as const, reason: 'not asked by readers' })
      return {
        a: (name) => lookup('A', name),
        aaaa: (name) => lookup('AAAA', name),
        txtStrings: (name) => lookup('TXT', name),
        mx: (name) => lookup('MX', name),
        cname: (name) => lookup('CNAME', name),
        ns: (name) => lookup('NS', name),
        ptr: (name) => lookup('PTR', name),
        txt: notAsked,
        tlsa: notAsked,
        close: () => {},
      }
    },
    sign: async (jobId, seal, text) => {
      const signature = await ask({ jobId, what: 'sign', seal, text })
      if (!(signature instanceof Uint8Array)) throw new Error('the seal was refused')
      return signature
    },
  }
}

const MAX_REMEMBERED = 2_000
/** A DKIM key of 4,096 bits takes some 700. What is larger is asked again: 2,000 answers of 64 KiB would be all the memory
 *  that a reader has. */
const LARGEST_REMEMBERED = 4_000

function isLarge(found: Lookup<unknown>): boolean {
  return found.kind === 'records' && JSON.stringify(found.records).length > LARGEST_REMEMBERED
}

/** The main thread remembers longer, by the TTL that says so. */
const NOTHING_SECONDS = 1
