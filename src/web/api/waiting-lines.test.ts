import { expect, test } from 'bun:test'
import { WaitingLines } from './waiting-lines.ts'

function start() {
  const lines = new WaitingLines()
  const ends: (() => void)[] = []
  /** A request that lasts until its function in `ends` is called, in order of beginning. */
  const request = async (line: string, atOnce = 2) => {
    await lines.enter(line, atOnce)
    await new Promise<void>((resolve) => ends.push(resolve))
    lines.leave(line)
  }
  return { lines, ends, request }
}

test('as many requests of a line as allowed run at once, others follow in order, and other lines do not wait', async () => {
  const { lines, ends, request } = start()
  const running = [request('a'), request('a')]
  const begun: number[] = []
  const later = [1, 2, 3].map(async (number) => {
    await lines.enter('a', 2)
    begun.push(number)
    lines.leave('a')
  })
  const other = request('b')
  await Bun.sleep(0)
  expect([ends.length, begun]).toEqual([3, []])
  ends[0]!()
  await Promise.all(later)
  expect(begun).toEqual([1, 2, 3])
  for (const end of ends) end()
  await Promise.all([...running, other])
})

test('of a line twenty wait, and the next is refused until one of them runs', async () => {
  const { ends, request } = start()
  const taken = Array.from({ length: 22 }, () => request('a'))
  const refused = await request('a').catch((error) => error)
  expect([refused.reason, refused.retryAfterSeconds]).toEqual(['rate_limited', 1])
  await Bun.sleep(0)
  ends[0]!()
  await taken[0]
  await Bun.sleep(0)
  const next = request('a')
  for (let at = 1; at < 23; at++) {
    ends[at]!()
    await Bun.sleep(0)
  }
  await Promise.all([...taken, next])
  expect(ends).toHaveLength(23)
})
