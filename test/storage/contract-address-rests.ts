import { expect } from 'bun:test'
import type { Holds } from './contract.ts'
import { START } from './records.ts'

const rest = (address: string, destination: string, until: number, times = 1) => ({
  address,
  destination,
  rule: 'block-list',
  times,
  since: START,
  until,
})

export function addressRestPromises(holds: Holds): void {
  holds('rests of addresses are those that end later, the last to end first', async ({ addressRests }) => {
    const short = rest('192.0.2.1', 'a.test', START + 1)
    const long = rest('192.0.2.1', 'b.test', START + 3)
    const other = rest('2001:db8::1', 'a.test', START + 2)
    await addressRests.change([short, long, other], [])
    expect(await addressRests.endingAfter(START, 10)).toEqual([long, other, short])
    expect(await addressRests.endingAfter(START, 2)).toEqual([long, other])
    expect(await addressRests.endingAfter(START + 2, 10)).toEqual([long])
  })

  holds('a rest is replaced by the next one, and removed alone', async ({ addressRests }) => {
    const first = rest('192.0.2.1', 'a.test', START + 1)
    const other = rest('192.0.2.2', 'a.test', START + 1)
    const next = { ...rest('192.0.2.1', 'a.test', START + 9, 2), rule: 'reputation' }
    await addressRests.change([first, other], [])
    await addressRests.change([next], [])
    expect(await addressRests.endingAfter(START, 10)).toEqual([next, other])
    await addressRests.change([], [next, rest('192.0.2.3', 'a.test', 0)])
    expect(await addressRests.endingAfter(START, 10)).toEqual([other])
  })

  holds('rests that ended before a time are removed', async ({ addressRests }) => {
    const [old, kept] = [rest('192.0.2.1', 'a.test', START), rest('192.0.2.1', 'b.test', START + 1)]
    await addressRests.change([old, kept], [])
    await addressRests.removeBefore(START + 1)
    expect(await addressRests.endingAfter(0, 10)).toEqual([kept])
  })
}
