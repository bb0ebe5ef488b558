import type { Random } from '../../os/random.ts'

/** `slip`: answer truncated, so that a real client repeats over TCP, which forged addresses cannot. */
export type Permission = 'answer' | 'slip' | 'drop'

/** Limits responses over UDP per client network, because the sender's address may be forged and the response hits its
 *  owner. Every second response above the limit is dropped.
 *
 *  A fixed number of buckets, chosen by a keyed hash of the network: memory and work are the same under any flood, and nobody
 *  can aim at the bucket of another network. A bucket is one number, the time when it is empty (generic cell rate). */
export function createRateLimit(options: {
  /** 0 = no limit. */
  perSecond: number
  /** ms. */
  now: () => number
  random: Random
  buckets?: number
}): (address: string) => Permission {
  const { perSecond, now, random, buckets = 65_536 } = options
  if (perSecond === 0) return () => 'answer'
  const emptyAt = new Float64Array(buckets)
  const seed = Buffer.from(random.bytes(4)).readUInt32BE()
  const stepMs = 1000 / perSecond
  let isSlip = false
  return (address) => {
    const at = networkHash(address, seed) % buckets
    const time = now()
    const next = Math.max(emptyAt[at] ?? 0, time) + stepMs
    if (next - time <= BURST_MS) {
      emptyAt[at] = next
      return 'answer'
    }
    isSlip = !isSlip
    return isSlip ? 'slip' : 'drop'
  }
}

/** A network may use the responses of this time at once. */
const BURST_MS = 1000

/** Address as text → hash of its /24 (IPv4) or /56 (IPv6). Linear in the text, which has at most 45 characters. */
export function networkHash(address: string, seed: number): number {
  let hash = seed
  const mix = (value: number) => {
    hash = Math.imul(hash ^ value, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  const lastDot = address.lastIndexOf('.')
  if (lastDot > 0) {
    const from = address.lastIndexOf(':') + 1 // a mapped address is an IPv4 one
    for (let at = from; at < lastDot; at++) mix(address.charCodeAt(at))
  } else {
    for (const group of firstGroups(address)) mix(group)
  }
  return hash >>> 0
}

/** The first 56 bits of an IPv6 address as three and a half groups of 16. */
function firstGroups(address: string): number[] {
  const gap = address.indexOf('::')
  const before = (gap < 0 ? address : address.slice(0, gap)).split(':')
  const after =
    gap < 0
      ? []
      : address
          .slice(gap + 2)
          .split(':')
          .filter((group) => group !== '')
  const groups = before[0] === '' ? [] : before
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0')
  const all = [...groups, ...(gap < 0 ? [] : zeros), ...after]
  const numbers = all.slice(0, 4).map((group) => Number.parseInt(group, 16) || 0)
  return numbers.map((number, at) => (at === 3 ? number & 0xff00 : number))
}
