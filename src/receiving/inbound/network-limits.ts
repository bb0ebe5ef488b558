import { networkOf } from '../../net/ip.ts'
import { setNewest } from '../../os/set-newest.ts'

/** Rate limits per client network at port 25. */
export interface NetworkLimits {
  /** Counts one connection; false if it exceeds the limit. */
  connect(address: string): boolean
  /** Counts one mail; false if it exceeds the limit. */
  mail(address: string): boolean
  /** Counts a recipient that does not exist. */
  unknownRecipient(address: string): void
  /** Whether the network named too many unknown recipients. It then gets the same reply for existing ones. */
  isGuessing(address: string): boolean
  /** Refusals by limit. */
  refusals(): Record<LimitName, number>
}

export type LimitName = 'connections' | 'mails' | 'unknown_recipients'

export interface NetworkRates {
  connectionsPerMinute: number
  mailsPerMinute: number
  unknownRecipientsPerHour: number
  /** Addresses without these limits: the operator's relays and backup hosts. */
  isUnlimited: (address: string) => boolean
}

/** Rates → limits without known networks. Each network (/24 of IPv4, /56 of IPv6) has three token buckets, which hold
 *  one period's number and refill evenly. `now`: steady clock, ms. */
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

  /** Keeps the least recently used network first and removes it if there are too many. A client with that many
   *  networks gains nothing from the removal. */
  const networkAt = (address: string): Network => {
    const key = networkOf(address)
    const network = networks.get(key) ?? { since: now(), left: { ...most } }
    setNewest(networks, key, network, MAX_NETWORKS)
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
  /** When `left` was last updated, ms. */
  since: number
  left: Record<LimitName, number>
}

const NAMES = ['connections', 'mails', 'unknown_recipients'] as const
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** About 20 MB. */
const MAX_NETWORKS = 100_000
