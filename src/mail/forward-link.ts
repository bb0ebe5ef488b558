import { createHmac, timingSafeEqual } from 'node:crypto'

/** Subject of a link in a confirmation mail: a route, its organization, and the target address. */
export interface ForwardTarget {
  routeId: string
  organizationId: string
  /** Folded. */
  email: string
}

/** Links in the mail that asks a target to confirm forwarding. */
export interface ForwardLinks {
  /** `/forward/c/<token>`: confirms, until `expiresAt` (ms UTC). */
  confirm(target: ForwardTarget, expiresAt: number): string
  /** `/forward/s/<token>`: stops forwarding; never expires. */
  stop(target: ForwardTarget): string
  /** Request path → its meaning; null if it was not made here, or has expired at `now`. */
  read(path: string, now: number): { kind: 'confirm' | 'stop'; target: ForwardTarget; expiresAt: number } | null
}

/** Secret → the links it authenticates. A token is the data in base64url and 128 bits of HMAC-SHA256 over kind and
 *  data, so that it cannot be made for another address, or changed from stop to confirm. Reading never throws and
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
      if ((kind !== 'c' && kind !== 's') || facts === undefined || tag === undefined) return null
      if (!timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(kind, facts)))) return null
      const [routeId, organizationId, email, expiresAt] = JSON.parse(Buffer.from(facts, 'base64url').toString())
      if (now >= expiresAt) return null
      return { kind: kind === 'c' ? 'confirm' : 'stop', target: { routeId, organizationId, email }, expiresAt }
    },
  }
}

type Letter = 'c' | 's'
const TAG_BYTES = 16
const NEVER = Number.MAX_SAFE_INTEGER
/** An address has at most 254 octets (RFC 5321 §4.5.3.1.3); 1,000 with every character escaped in JSON. */
const PATH = /^\/forward\/([cs])\/([\w-]{1,2000})\.([\w-]{22})$/
