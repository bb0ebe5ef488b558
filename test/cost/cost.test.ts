/** The CPU time of every parser for every class of hostile text: 100 kB take under 50 ms, and twice the text takes
 *  at most 2.3 times as long. CPU time excludes other programs. On a machine slower than the one the limit was set
 *  on, the limit grows in proportion. */
import { expect, test } from 'bun:test'
import { costMs, slowness } from '../support/cpu-cost.ts'
import { HOSTILE, type Hostile } from './hostile.ts'
import { PARSERS, type Parser } from './parsers.ts'

const LENGTH = 100_000
const MOST_MS = 50
const MOST_GROWTH = 2.3
/** Below this, a quadratic parser would stay under MOST_MS at the whole length too, and 25 times the time would go
 *  unnoticed. */
const QUICK_MS = 1.5
/** Less is indistinguishable from garbage collection. */
const MEASURABLE_MS = 10
const TRIES = 3
/** The minimum of this many rounds counts, because other work of the machine only adds time. */
const COST_ROUNDS = 12
const GROWTH_ROUNDS = 6

for (const parser of PARSERS) {
  // bound: parsers-cost
  // threat: cost-per-byte
  test(`reads 100 kB of hostile text in under ${MOST_MS} ms and twice of it in twice the time: ${parser.name}`, async () => {
    for (const hostile of HOSTILE) {
      const short = await costOf(parser, hostile, LENGTH / 5, 2)
      if (short < QUICK_MS) continue
      const ms = await atMost(MOST_MS, (tries) => costOf(parser, hostile, LENGTH, tries))
      if (ms >= MOST_MS) expect(ms, hostile.name).toBeLessThan(MOST_MS * (await slowness()))
      const isSteady = doubling(ms / short, 5) <= MOST_GROWTH
      if (!isSteady) expect(await growth(parser, hostile), hostile.name).toBeLessThanOrEqual(MOST_GROWTH)
    }
  })
}

/** Value → the same, measured again with more tries while it exceeds the limit. */
async function atMost(limit: number, measure: (tries: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 1; tries <= COST_ROUNDS && least > limit * 0.8; tries++)
    least = Math.min(least, await measure(tries))
  return least
}

/** The cost ratio for `times` as much text → the ratio for twice as much. */
function doubling(cost: number, times: number): number {
  return cost ** (1 / Math.log2(times))
}

/** The cost ratio for twice the text, derived from four times the text, where the step of a cache is smaller. The
 *  minimum over several lengths, each the minimum of many rounds; a parser that is not linear grows at every one. */
async function growth(parser: Parser, hostile: Hostile): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (const part of [1, 1 / 2, 1 / 4]) {
    const length = Math.min(LENGTH, parser.most / 4) * part
    let one = Number.POSITIVE_INFINITY
    let four = Number.POSITIVE_INFINITY
    for (let round = 0; round < GROWTH_ROUNDS && least > MOST_GROWTH; round++) {
      four = Math.min(four, await costOf(parser, hostile, length * 4, TRIES))
      if (four < MEASURABLE_MS) return 1
      one = Math.min(one, await costOf(parser, hostile, length, TRIES))
      least = Math.min(least, doubling(four / one, 4))
    }
  }
  return least
}

async function costOf(parser: Parser, hostile: Hostile, wanted: number, tries: number): Promise<number> {
  const length = Math.floor(Math.min(wanted, parser.most))
  const text = hostile.make(length).slice(0, length)
  return costMs(async () => {
    try {
      await parser.read(text)
    } catch {
      // Most of it is invalid; the cost of rejecting it counts.
    }
  }, tries)
}
