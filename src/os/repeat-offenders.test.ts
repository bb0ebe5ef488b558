import { expect, test } from 'bun:test'
import { createRepeatOffenders } from './repeat-offenders.ts'

test('five ended threads within ten minutes make a repeat offender, until the oldest is ten minutes old; reported once', () => {
  let now = 0
  const offenders = createRepeatOffenders({ now: () => now })
  const added: boolean[] = []
  for (; now < 5_000; now += 1_000) added.push(offenders.add('a'))
  expect(added).toEqual([false, false, false, false, true])
  expect([offenders.leftMs('a'), offenders.leftMs('b')]).toEqual([595_000, 0])
  now = 599_999
  expect([offenders.leftMs('a'), offenders.add('a')]).toEqual([1, false])
  // The five are now later ones.
  expect(offenders.leftMs('a')).toBe(1_001)
  now = 601_000
  expect([offenders.leftMs('a'), offenders.add('a')]).toEqual([0, true])
})

test('slow repetitions never count, and the number of remembered owners is limited', () => {
  let now = 0
  const offenders = createRepeatOffenders({ now: () => now })
  for (let i = 0; i < 20; i++, now += 150_001) expect(offenders.add('slow')).toBe(false)
  for (let i = 0; i < 5; i++) offenders.add('a')
  for (let i = 0; i < 1_000; i++) offenders.add(`other${i}`)
  expect(offenders.leftMs('a')).toBe(0)
})
