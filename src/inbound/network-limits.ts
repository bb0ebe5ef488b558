import { networkOf } from '../net/ip.ts'

/** What one client network may do at port 25 within a time. */
export interface NetworkLimits {
  /** One connection more; false: it is too many. */
  connect(address: string): boolean
  /** One mail more; false: it is too many. */
  mail(address: string): boolean
  /** Remembers a recipient that does not exist. */
  unknownRecipient(address: string): void
  /** Whether the network has named too many recipients that do not exist: then it learns of none whether it exists. */
  isGuessing(address: string): boolean
  /** How many times each limit refused something. */
  refusals(): Record<LimitName, number>
}

export type LimitName = 'connections' | 'mails' | 'unknown_recipients'

export interface NetworkRates {
  connectionsPerMinute: number
  mailsPerMinute: number
  unknownRecipientsPerHour: number
  /** Addresses that have no such limits: relays and backup hosts of the operator. */
  isUnlimited: (address: string) => boolean
}

/** Rates → no network known. Each network (/24 of IPv4, /56 of IPv6) has three token buckets: it may use a whole period's
 *  number at once and gets it back evenly. `now`: a steady clock, ms. */
export function createNetworkLimits(rates: NetworkRates, now: () => number): NetworkLimits {
  const networks = new Map<string, Network>()
  const refused: Record<LimitName, number> = { connections: 0, mails: 0, unknown_recipients: 0 }
  const perMs: Record<LimitName, number> = {
    connections: rates.connectionsPerMinute / MINUTE_MS,
    mails: rates.mailsPerMinute / MINUTE_MS,
    unknown_recipients: rates.unknownRecipientsPerHour / HOUR_MS,
  }
  const most: Record<LimitName, number> = {
    connections: rates.connectionsPerMinute,
    mails: rates.mailsPerMinute,
    unknown_recipients: rates.unknownRecipientsPerHour,
  }

  /** The one used longest ago is first and goes when there are too many: whoever has that many networks has no need to be
   *  forgotten. */
  const networkAt = (address: string): Network => {
    const key = networkOf(address)
    const known = networks.get(key)
    if (known !== undefined) networks.delete(key)
    else if (networks.size >= MAX_NETWORKS) networks.delete(networks.keys().next().value!)
    const network = known ?? { since: now(), left: { ...most } }
    networks.set(key, network)
    return refilled(network)
  }

  const refilled = (network: Network): Network => {
    const passedMs = Math.max(0, now() - network.since)
    network.since += passedMs
    for (const name of NAMES) network.left[name] = Math.min(most[name], network.left[name] + passedMs * perMs[name])
    return network
  }

  const take = (name: LimitName, address: string): boolean => {
    if (rates.isUnlimited(address)) return true
    const { left } = networkAt(address)
    if (left[name] < 1) {
      refused[name]++
      return false
    }
    left[name]--
    return true
  }

  return {
    connect: (address) => take('connections', address),
    mail: (address) => take('mails', address),
    unknownRecipient: (address) => {
      if (rates.isUnlimited(address)) return
      const { left } = networkAt(address)
      left.unknown_recipients = Math.max(0, left.unknown_recipients - 1)
    },
    isGuessing: (address) => {
      if (rates.isUnlimited(address) || networkAt(address).left.unknown_recipients >= 1) return false
      refused.unknown_recipients++
      return true
    },
    refusals: () => ({ ...refused }),
  }
}

interface Network {
  /** When `left` was last brought up to date, ms. */
  since: number
  left: Record<LimitName, number>
}

const NAMES = ['connections', 'mails', 'unknown_recipients'] as const
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** Some 20 MB. */
const MAX_NETWORKS = 100_000
