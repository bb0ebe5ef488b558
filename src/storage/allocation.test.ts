import { expect, test } from 'bun:test'
import { createAllocation } from './allocation.ts'

test('quotas of one name share their count, each with its own limit', () => {
  const allocation = createAllocation(100)
  const tight = [{ name: 'site', most: 3 }]
  const wide = [
    { name: 'site', most: 5 },
    { name: 'pool', most: 4 },
  ]
  expect([allocation.capacityFor(tight), allocation.capacityFor(wide)]).toEqual([3, 4])
  allocation.took(wide, 3)
  expect([allocation.blockedBy(tight), allocation.capacityFor(wide)]).toEqual(['site', 1])
  allocation.took(wide, 1)
  expect([allocation.blockedBy(wide), allocation.left()]).toEqual(['pool', 96])
})

test('the limit of the claim applies without any quota', () => {
  const allocation = createAllocation(2)
  expect(allocation.capacityFor([])).toBe(2)
  allocation.took([], 2)
  expect([allocation.capacityFor([]), allocation.blockedBy([])]).toEqual([0, null])
})

test('a share leaves its part of the free slots, and one delivery may always start', () => {
  const share = (underWay: number, parts: number) => [{ name: 'org', underWay, parts }]
  expect(createAllocation(200).capacityFor(share(0, 1))).toBe(100)
  expect(createAllocation(100).capacityFor(share(100, 1))).toBe(0)
  expect(createAllocation(100).capacityFor(share(20, 2))).toBe(20)
  expect(createAllocation(1).capacityFor(share(0, 2))).toBe(1)
})
