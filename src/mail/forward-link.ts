import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a link in a confirmation mail is about: a route, its organization, and the address that it names as a target. */
export interface ForwardTarget {
  routeId: string
  organizationId: string
  /** Folded. */
  email: string
}

/** Links of the mail that asks the owner of an address whether a forward route may send to it. */
export interface ForwardLinks {
  /** `/forward/c/<token>`: to confirm, until `expiresAt` (ms UTC). */
  confirm(target: ForwardTarget, expiresAt: number): string
  /** `/forward/s/<token>`: to stop, for ever. */
  stop(target: ForwardTarget): string
  /** A path as it came → what it says; null for anything that was not made here, or has expired at `now`. */
  read(path: string, now: number): { kind: 'confirm' | 'stop'; target: ForwardTarget; expiresAt: number } | null
}

/** Secret → the links it vouches for. A token is the facts in base64url and 128 bits of HMAC-SHA256 over kind and facts, so
 *  that nobody can make one for another address or turn a link to stop into one to confirm. Reading never throws and
 *  compares in constant time. */
export function createForwardLinks(secret: Uint8Array): ForwardLinks {
  const tagOf = (kind: Letter, facts: string) =>
    createHmac('sha256', secret).update(`forward ${kind} ${facts}`).digest().toString('base64url', 0, TAG_BYTES)
  const make = (kind: Letter, { routeId, organizationId, email }: ForwardTarget, expiresAt: number) => {
    const facts = Buffer.from(JSON.stringify([routeId, organizationId, email, expiresAt])).toString('base64url')
    return `/forward/${kind}/${facts}.${tagOf(kind, facts)}`
  }
  return {
    confirm: (target, expiresAt) => make('c', target, expiresAt),
    stop: (target) => make('s', target, NEVER),
    read: (path, now) => {
      const [, kind, facts, tag] = PATH.exec(path) ?? []
      if (kind === undefined || facts === undefined || tag === undefined) return null
      if (!timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(kind as Letter, facts)))) return null
      const [routeId, organizationId, email, expiresAt] = JSON.parse(Buffer.from(facts, 'base64url').toString())
      if (now >= expiresAt) return null
      return { kind: kind === 'c' ? 'confirm' : 'stop', target: { routeId, organizationId, email }, expiresAt }
    },
  }
}

type Letter = 'c' | 's'
const TAG_BYTES = 16
const NEVER = Number.MAX_SAFE_INTEGER
/** An address has at most 254 octets (RFC 5321 §4.5.3.1.3), 1,000 with every sign of it escaped in JSON. */
const PATH = /^\/forward\/([cs])\/([\w-]{1,2000})\.([\w-]{22})$/
