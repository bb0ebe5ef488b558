import { afterAll, expect, spyOn, test } from 'bun:test'
import { DueLooks } from './due-looks.ts'

let now = 0
const steady = spyOn(performance, 'now').mockImplementation(() => now)
afterAll(() => steady.mockRestore())

test('a take-over that fails is reported, and repeated after a second, also if another node ends', async () => {
  const failures: unknown[] = []
  let [isBroken, takeOvers, loads] = [true, 0, 0]
  const keys = {
    load: async () => {
      loads++
    },
  }
  const looks = new DueLooks(keys, () => 0, { onRead: () => {}, onFailed: (error) => failures.push(error) })
  looks.takeOverBy(async () => {
    takeOvers++
    if (isBroken) throw new Error('no contact')
  })
  const turn = async (hasEnded: boolean) => {
    looks.turn(hasEnded)
    await looks.settled()
  }
  await turn(true)
  now = 999
  await turn(true)
  expect([takeOvers, loads, failures]).toEqual([1, 0, [new Error('no contact')]])
  now = 1_000
  isBroken = false
  await turn(false)
  expect([takeOvers, loads, failures.length]).toEqual([2, 1, 1])
  await turn(true) // a success has no pause
  expect(takeOvers).toBe(3)
})
