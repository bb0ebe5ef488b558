/** The content of the big store: how much, whose, and how it is distributed. Everything follows from a number, so
 *  that seeding and queries agree. */

export interface Extent {
  /** Final messages, one recipient each. */
  past: number
  /** Queued messages. */
  queued: number
  events: number
  /** Domains of the queued ones. */
  destinations: number
  suppressions: number
  inbound: number
  webhookDeliveries: number
}

/** The goals are set for this size. */
export const FULL: Extent = {
  past: 2_500_000,
  queued: 1_000_000,
  events: 10_000_000,
  destinations: 20_000,
  suppressions: 200_000,
  inbound: 200_000,
  webhookDeliveries: 500_000,
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
