import { expect } from 'bun:test'
import type { Holds } from './contract.ts'

const HOUR = 498_684
const count = (address: string, attempts: number, delivered: number) => ({ address, attempts, delivered })

export function addressUsePromises(holds: Holds): void {
  holds('attempts from an address add up over hours, and end after two days', async ({ addressUses }) => {
    await addressUses.add(HOUR - 30, [count('192.0.2.2', 5, 5)])
    await addressUses.add(HOUR - 1, [count('192.0.2.3', 2, 0), count('192.0.2.2', 3, 2)])
    await addressUses.add(HOUR, [count('192.0.2.2', 1, 1)])
    await addressUses.add(HOUR, [count('192.0.2.2', 1, 0)])
    expect(await addressUses.since(HOUR)).toEqual([count('192.0.2.2', 2, 1)])
    expect(await addressUses.since(HOUR - 1)).toEqual([count('192.0.2.2', 5, 3), count('192.0.2.3', 2, 0)])
    expect(await addressUses.since(0)).toEqual([count('192.0.2.2', 10, 8), count('192.0.2.3', 2, 0)])
    await addressUses.add(HOUR + 19, [count('192.0.2.2', 1, 1)])
    expect(await addressUses.since(0)).toEqual([count('192.0.2.2', 6, 4), count('192.0.2.3', 2, 0)])
  })
}
