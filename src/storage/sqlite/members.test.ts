import { expect, test } from 'bun:test'
import {
  addMember,
  addStored,
  allMembers,
  keepOnly,
  type Members,
  noMembers,
  placesDown,
  RANGE,
  removeMembers,
  toStored,
} from './members.ts'

const of = (...places: number[]): Members => {
  const members = noMembers()
  for (const place of places) addMember(members, place)
  return members
}
const down = (members: Members, high = RANGE - 1, low = 0) => [...placesDown(members, high, low)]
const again = (members: Members): Members => {
  const read = noMembers()
  addStored(read, toStored(members)!)
  return read
}

test('members are stored as a list while it is shorter than their bitmap', () => {
  const most = RANGE / 16 - 1
  const few = Array.from({ length: most }, (_, at) => 16 * at + 15)
  expect(toStored(noMembers())).toBeNull()
  expect(toStored(of(1023, 258))).toEqual(new Uint8Array([2, 1, 255, 3]))
  expect(toStored(of(...few))?.length).toBe(2 * most)
  expect(toStored(of(...few, 0))?.length).toBe(RANGE / 8)
  expect(toStored(allMembers())?.length).toBe(RANGE / 8)
  for (const members of [of(0), of(...few), of(...few, 0), allMembers()]) expect(again(members)).toEqual(members)
})

test('stored members are added to others', () => {
  const members = of(1, 500)
  addStored(members, toStored(of(0, 500, 1023))!)
  addStored(members, toStored(of(...Array.from({ length: 100 }, (_, at) => 600 + at)))!)
  expect(down(members)).toEqual([1023, ...Array.from({ length: 100 }, (_, at) => 699 - at), 500, 1, 0])
})

test('a damaged list adds no place beyond the range', () => {
  const members = noMembers()
  addStored(members, new Uint8Array([255, 255, 7]))
  expect(down(members)).toEqual([RANGE - 1])
})

test('members are kept, removed and read between two places', () => {
  const members = of(0, 7, 8, 9, 15, 16, 1023)
  expect(down(members, 16, 8)).toEqual([16, 15, 9, 8])
  expect(down(members, 14, 8)).toEqual([9, 8])
  expect(down(members, 6, 1)).toEqual([])
  keepOnly(members, of(7, 9, 1023))
  expect(down(members)).toEqual([1023, 9, 7])
  expect(removeMembers(members, of(8, 10))).toBe(false)
  expect(removeMembers(members, of(8, 9))).toBe(true)
  expect(down(members)).toEqual([1023, 7])
})
