/** The content of the big store: how much, whose, and how it is distributed. Everything follows from a number, so
 *  that seeding and queries agree. */

import { base32 } from '../../../src/os/ids.ts'

export interface Extent {
  /** Final messages, one recipient each. */
  past: number
  /** Queued messages. */
  queued: number
  events: number
  /** Domains of the queued ones. */
  destinations: number
}

/** The goals are set for this size. */
export const FULL: Extent = {
  past: 2_500_000,
  queued: 1_000_000,
  events: 10_000_000,
  destinations: 20_000,
}

/** A share of that, for experiments. */
export function scaled(share: number): Extent {
  return Object.fromEntries(Object.entries(FULL).map(([name, count]) => [name, Math.ceil(count * share)])) as never
}

export const DAYS = 30
export const DAY_MS = 86_400_000

/** Reproducible uniform noise: the same number gives the same number (splitmix32). */
export function noise(n: number): number {
  let x = (n + 0x9e3779b9) | 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}

export interface Sender {
  organizationId: string
  domainId: string
  domain: string
  keyId: string
}

const WORDS =
  'order receipt invoice welcome password reset shipped refund weekly report login code reminder account update'.split(
    ' ',
  )
/** Used once in about ten thousand messages. */
const RARE = ['kaleidoscope', 'zeppelin', 'marmalade', 'quixotic']

/** Fields of the message with that number. */
export function messageFields(n: number) {
  const pick = noise(n * 7 + 1)
  const rare = pick % 10_007 === 0 ? ` ${RARE[pick % RARE.length]}` : ''
  return {
    subject: `${WORDS[pick % 15]} ${WORDS[(pick >>> 8) % 15]} ${n % 100_000}${rare}`,
    sender: `${['hello', 'billing', 'no-reply', 'team'][pick % 4]}${pick % 997 === 0 ? '.rare' : ''}`,
    tags: pick % 3 === 0 ? [] : [WORDS[(pick >>> 4) % 15]!, ...(pick % 5003 === 0 ? ['rare'] : [])],
    metadata: { order: n, plan: ['free', 'pro', 'team'][pick % 3]! },
    mode: pick % 2_000 === 0 ? ('test' as const) : ('live' as const),
    template: pick % 4 === 0 ? null : (pick >>> 3) % 50,
  }
}

/** Its recipient. Past mail goes mostly to few domains, and to each person about four times. */
export function recipient(n: number, { past, destinations }: Pick<Extent, 'past' | 'destinations'>): [string, string] {
  const pick = noise(n * 13 + 5)
  const domain = n < past ? `mail${Math.floor((pick % 1000) ** 2 / 1000)}.example` : `d${n % destinations}.example`
  return [`u${pick % Math.ceil(past / 4)}@${domain}`, domain]
}

/** An id as it is minted, with its random part from a number. */
export function idAt(prefix: string, at: number, n: number): string {
  const bytes = Buffer.alloc(10)
  bytes.writeUInt32BE(noise(n), 0)
  bytes.writeUInt32BE(n >>> 0, 4)
  bytes.writeUInt16BE(noise(n + 1) & 0xffff, 8)
  return `${prefix}_${time32(at)}${base32(bytes)}`
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
function time32(at: number): string {
  let text = ''
  for (let rest = at, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}

/** When message `n` was accepted: past ones over the month, queued ones during the last hours. */
export function acceptedAt(n: number, { past, queued }: Extent, now: number): number {
  const begin = now - DAYS * DAY_MS
  const turn = now - DAY_MS / 4
  if (n < past) return Math.floor(begin + (n / past) * (turn - begin))
  return Math.floor(turn + ((n - past) / queued) * (now - turn))
}
