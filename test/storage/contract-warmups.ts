import { expect } from 'bun:test'
import type { Holds } from './contract.ts'

const ADDRESS = '192.0.2.1'
const DAY = 20_781
const NOTHING = { sent: 0, delivered: 0, deferred: 0, blocked: 0, complaints: 0 }
const google = { address: ADDRESS, group: 'google', day: DAY } as const

export function warmupPromises(holds: Holds): void {
  holds('mails of a warm-up are counted within the allowance, also when two nodes count at once', async (store) => {
    const { warmups } = store
    const apple = { ...google, group: 'apple' } as const
    const first = await warmups.take([
      { ...google, count: 3, most: 10 },
      { ...apple, count: 2, most: 1 },
    ])
    expect(first).toEqual([
      { taken: 3, sent: 3 },
      { taken: 1, sent: 1 },
    ])
    const both = await Promise.all([1, 2].map(() => warmups.take([{ ...google, count: 5, most: 10 }])))
    expect(both.flat().map(({ taken }) => taken)).toEqual(expect.arrayContaining([5, 2]))
    // An allowance that is lower now takes nothing back.
    expect(await warmups.take([{ ...google, count: 1, most: 4 }])).toEqual([{ taken: 0, sent: 10 }])
    expect(await warmups.take([])).toEqual([])
    expect(await warmups.days([ADDRESS])).toEqual([
      { ...apple, ...NOTHING, sent: 1 },
      { ...google, ...NOTHING, sent: 10 },
    ])
  })

  holds('results of a warm-up add up, and what was not sent is taken back, not below 0', async (store) => {
    const { warmups } = store
    await warmups.take([{ ...google, count: 5, most: 10 }])
    await warmups.add([{ ...google, delivered: 2, deferred: 1, sent: -1 }])
    await warmups.add([{ ...google, delivered: 1, blocked: 1, complaints: 1 }])
    const counts = { sent: 4, delivered: 3, deferred: 1, blocked: 1, complaints: 1 }
    expect(await warmups.days([ADDRESS])).toEqual([{ ...google, ...counts }])
    await warmups.add([{ ...google, sent: -9 }])
    await warmups.add([{ ...google, day: DAY - 1, complaints: 1 }])
    await warmups.add([{ ...google, address: '192.0.2.9', sent: 1 }])
    expect(await warmups.days([ADDRESS])).toEqual([
      { ...google, ...NOTHING, day: DAY - 1, complaints: 1 },
      { ...google, ...counts, sent: 0 },
    ])
    expect(await warmups.days([])).toEqual([])
  })

  holds('many changes of the same days at once do not block each other', async (store) => {
    const { warmups } = store
    const groups = ['others', 'apple', 'google', 'yahoo'] as const
    const orders = [groups, groups.toReversed()]
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        warmups.add(orders[at % 2]!.map((group) => ({ ...google, group, delivered: 1 }))),
      ),
    )
    expect((await warmups.days([ADDRESS])).map(({ delivered }) => delivered)).toEqual([10, 10, 10, 10])
  })
}
