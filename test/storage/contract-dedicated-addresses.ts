import { expect } from 'bun:test'
import { assignDedicatedAddresses } from '../../src/operating/maintenance/dedicated-addresses.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { accept, claim, found, ORGANIZATION, recordOf, START } from './records.ts'

const OTHER = 'org_other000000000000000000'
const V4 = ['192.0.2.1', '192.0.2.2']
const V6 = '2001:db8::1'

const owners = async (store: Store) =>
  Object.fromEntries((await store.dedicatedAddresses.list()).map((each) => [each.address, each.organizationId]))
const assign = (store: Store, addresses: readonly string[], now = START) =>
  assignDedicatedAddresses(now, { store, addresses, hasDedicated: (plan) => plan === 'pro' })

export function dedicatedAddressPromises(holds: Holds): void {
  const addOther = (store: Store, plan = 'pro') =>
    store.organizations.create({ id: OTHER, name: 'Other', plan, createdAt: START + 1 })

  // threat: dedicated-address-of-another-organization
  holds('an address belongs to one organization, also when two are assigned at once', async (store, records) => {
    await found(store, records)
    const { dedicatedAddresses } = store
    const results = await Promise.all([ORGANIZATION, OTHER].map((id) => dedicatedAddresses.assign(V4[0]!, id, START)))
    expect(results.filter(Boolean)).toHaveLength(1)
    const [held] = await dedicatedAddresses.list()
    expect(held).toMatchObject({ address: V4[0], assignedAt: START, leavingSince: null })
    await dedicatedAddresses.setLeaving(held!, START + 5)
    const [leaving] = await dedicatedAddresses.list()
    expect(leaving?.leavingSince).toBe(START + 5)
    await dedicatedAddresses.release(leaving!)
    expect(await dedicatedAddresses.list()).toEqual([])
  })

  // threat: dedicated-address-of-another-organization
  holds('an address that has another owner or state by now stays as it is', async (store, records) => {
    await found(store, records)
    const { dedicatedAddresses } = store
    await dedicatedAddresses.assign(V4[0]!, ORGANIZATION, START)
    const [first] = await dedicatedAddresses.list()
    await dedicatedAddresses.setLeaving(first!, START + 5)
    const [leaving] = await dedicatedAddresses.list()
    await dedicatedAddresses.release(first!)
    await dedicatedAddresses.setLeaving(first!, START + 9)
    expect(await dedicatedAddresses.list()).toEqual([leaving!])
    await dedicatedAddresses.release(leaving!)
    await dedicatedAddresses.assign(V4[0]!, OTHER, START + 6)
    await dedicatedAddresses.release({ ...leaving!, leavingSince: null })
    expect(await owners(store)).toEqual({ [V4[0]!]: OTHER })
  })

  holds(
    'organizations on a plan with an address get spare ones, the oldest first, and keep them',
    async (store, records) => {
      await found(store, records)
      await store.organizations.setPlan(ORGANIZATION, 'pro')
      await addOther(store)
      expect(await assign(store, [V4[0]!, V6])).toBe(true)
      expect(await owners(store)).toEqual({ [V4[0]!]: ORGANIZATION, [V6]: ORGANIZATION })
      expect(await assign(store, [V4[0]!, V6])).toBe(false)
      expect(await assign(store, [...V4, V6])).toBe(true)
      expect(await owners(store)).toEqual({ [V4[0]!]: ORGANIZATION, [V6]: ORGANIZATION, [V4[1]!]: OTHER })
      // Without an IPv4 address, an IPv6 one alone would not reach most destinations.
      expect(await assign(store, [V4[0]!])).toBe(true)
      expect(await owners(store)).toEqual({ [V4[0]!]: ORGANIZATION })
      await assign(store, [V4[0]!, V6])
      expect((await owners(store))[V6]).toBe(ORGANIZATION)
    },
  )

  holds(
    'an organization that leaves the plan keeps its address until its earlier mail has ended',
    async (store, records) => {
      await found(store, records)
      await store.organizations.setPlan(ORGANIZATION, 'pro')
      await assign(store, V4)
      await accept(store, records.accepted())
      await store.organizations.setPlan(ORGANIZATION, 'free')
      await addOther(store)
      expect(await assign(store, [V4[0]!], START + 10)).toBe(true)
      expect(await assign(store, [V4[0]!], START + 20)).toBe(false)
      expect(await owners(store)).toEqual({ [V4[0]!]: ORGANIZATION })

      // Back in time, it keeps the same address.
      await store.organizations.setPlan(ORGANIZATION, 'pro')
      await assign(store, [V4[0]!], START + 30)
      expect((await store.dedicatedAddresses.list())[0]?.leavingSince).toBeNull()
      await store.organizations.setPlan(ORGANIZATION, 'free')
      await assign(store, [V4[0]!], START + 40)

      const [claimed] = await claim(store)
      await store.deliveries.record(recordOf(claimed!))
      await accept(store, records.accepted({ createdAt: START + 50 }))
      expect(await assign(store, [V4[0]!], START + 60)).toBe(true)
      expect(await owners(store)).toEqual({ [V4[0]!]: OTHER })
    },
  )
}
