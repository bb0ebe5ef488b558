import { isIPv6 } from 'node:net'
import type { DedicatedAddress } from '../../model/dedicated-address.ts'
import type { Organization } from '../../model/organization.ts'
import type { Store } from '../../storage/store.ts'

/** Gives spare addresses of the pool `dedicated` to organizations whose plan has one, the oldest organization first: an
 *  IPv4 address, and beside it an IPv6 one. An organization whose plan no longer has one keeps its addresses until the mail
 *  that it sent before has ended. An address that is no longer configured is released. Twice is harmless: the store assigns
 *  an address once. Returns whether anything changed. */
export async function assignDedicatedAddresses(
  now: number,
  deps: {
    store: Pick<Store, 'dedicatedAddresses' | 'organizations'>
    /** Configured addresses of the pool. */
    addresses: readonly string[]
    hasDedicated: (plan: string) => boolean
  },
): Promise<boolean> {
  const { store, addresses, hasDedicated } = deps
  const { dedicatedAddresses } = store
  const organizations = new Map((await store.organizations.list()).map((each) => [each.id, each]))
  const isEntitled = (id: string) => hasDedicated(organizations.get(id)?.plan ?? '')
  let hasChanged = false
  const held: DedicatedAddress[] = []
  for (const each of await dedicatedAddresses.list()) {
    const next = await stepOf(each, { now, store, isConfigured: addresses.includes(each.address), isEntitled })
    hasChanged ||= next !== 'as before'
    if (next !== 'released') held.push(each)
  }
  const spare = addresses.filter((address) => !held.some((each) => each.address === address))
  for (const { id } of [...organizations.values()].filter(({ plan }) => hasDedicated(plan)).sort(byAge)) {
    for (const isV6 of [false, true]) {
      const own = held.filter(({ organizationId }) => organizationId === id)
      if (own.some(({ address }) => isIPv6(address) === isV6) || (isV6 && own.length === 0)) continue
      const at = spare.findIndex((address) => isIPv6(address) === isV6)
      const [address] = at < 0 ? [] : spare.splice(at, 1)
      if (address === undefined || !(await dedicatedAddresses.assign(address, id, now))) continue
      held.push({ address, organizationId: id, assignedAt: now, leavingSince: null })
      hasChanged = true
    }
  }
  return hasChanged
}

const byAge = (one: Organization, other: Organization) =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)

/** The next step of an assigned address. */
async function stepOf(
  held: DedicatedAddress,
  deps: {
    now: number
    store: Pick<Store, 'dedicatedAddresses'>
    isConfigured: boolean
    isEntitled: (organizationId: string) => boolean
  },
): Promise<'as before' | 'changed' | 'released'> {
  const { dedicatedAddresses } = deps.store
  const { organizationId, leavingSince } = held
  if (!deps.isConfigured) {
    await dedicatedAddresses.release(held)
    return 'released'
  }
  const isLeaving = leavingSince !== null
  if (deps.isEntitled(organizationId)) {
    if (!isLeaving) return 'as before'
    await dedicatedAddresses.setLeaving(held, null)
    return 'changed'
  }
  if (!isLeaving) {
    await dedicatedAddresses.setLeaving(held, deps.now)
    return 'changed'
  }
  if (await dedicatedAddresses.hasQueuedBefore(organizationId, leavingSince)) return 'as before'
  await dedicatedAddresses.release(held)
  return 'released'
}
