import { isIPv4 } from 'node:net'
import { DESTINATION_GROUPS, type DestinationGroup } from '../../model/destination-group.ts'
import { dayOf, releasedBy, standingOf, startOfDay, type Warmup, type WarmupDay } from '../../model/warmup.ts'
import type { Store } from '../../storage/store.ts'

interface PooledAddress {
  address: string
  pool: string
  warmup: Warmup | null
}

/** A part of the allowance that was just released may still be unused. */
const JUST_RELEASED_MS = 10 * 60_000

/** Configured addresses → the destination groups whose mail waits for a warm-up now: no address of a pool may send more of
 *  it. [] without warm-ups. Rejects as the store does. */
export async function warmupWaits(
  { warmups }: Pick<Store, 'warmups'>,
  addresses: readonly PooledAddress[],
  now: number,
): Promise<DestinationGroup[]> {
  const warming = addresses.flatMap(({ address, warmup }) => (warmup === null ? [] : [address]))
  if (warming.length === 0) return []
  const days = Map.groupBy(await warmups.days(warming), ({ address, group }) => `${address} ${group}`)
  const isUsedUp = ({ address, warmup }: PooledAddress, group: DestinationGroup) =>
    warmup !== null && hasNothingLeft(warmup, days.get(`${address} ${group}`) ?? [], now)
  const pools = [...Map.groupBy(addresses, ({ pool, address }) => (pool === 'dedicated' ? address : pool)).values()]
  // IPv6 goes beside IPv4 and does not take over.
  const able = pools.map((pool) => (pool.some(isV4) ? pool.filter(isV4) : pool))
  return DESTINATION_GROUPS.filter((group) => able.some((pool) => pool.every((each) => isUsedUp(each, group))))
}

const isV4 = ({ address }: PooledAddress) => isIPv4(address)

function hasNothingLeft(warmup: Warmup, days: readonly WarmupDay[], now: number): boolean {
  const today = dayOf(now)
  const { state, allowance, today: counts } = standingOf(warmup, days, today)
  if (state === 'held') return true
  if (allowance === null) return false
  return counts.sent >= releasedBy(allowance, Math.max(startOfDay(today), now - JUST_RELEASED_MS)).mails
}
