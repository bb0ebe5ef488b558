/** The CPU time of every parser for every class of hostile text: 100 kB take under 50 ms, and twice the text takes
 *  at most 2.3 times as long. CPU time excludes other programs. On a machine slower than the one the limit was set
 *  on, the limit grows in proportion. Other work of the machine only adds time, so the least of several measurements
 *  counts, and a measurement that meets the limits is not repeated. */
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
/** A single measurement of a short text may be one of the garbage collector. */
const SHORT_TRIES = 3
const ROUNDS = 4
const SLOW_ROUNDS = 12
const GROWTH_ROUNDS = 12

for (const parser of PARSERS) {
  // bound: parsers-cost
  // threat: cost-per-byte
  test(`reads 100 kB of hostile text in under ${MOST_MS} ms and twice of it in twice the time: ${parser.name}`, async () => {
    for (const hostile of HOSTILE) {
      const cut = (length: number) => hostile.make(length).slice(0, Math.floor(Math.min(length, parser.most)))
      const short = new Cost(parser, cut(LENGTH / 5))
      if ((await short.measure(SHORT_TRIES, QUICK_MS)) < QUICK_MS) continue
      const whole = new Cost(parser, cut(LENGTH))
      // No text is longer than `most`: if that is here, it does not matter how the cost would grow.
      const isSteady = () => parser.most <= LENGTH || doubling(whole.ms / short.ms, 5) <= MOST_GROWTH
      for (let round = 1; round <= ROUNDS && !(whole.ms < MOST_MS && isSteady()); round++) {
        if (round > 1) await short.measure(1)
        await whole.measure(1)
      }
      if (whole.ms >= MOST_MS) {
        const limit = MOST_MS * (await slowness())
        expect(await whole.measure(SLOW_ROUNDS, limit), hostile.name).toBeLessThan(limit)
      }
      if (!isSteady()) expect(await growth(parser, hostile), hostile.name).toBeLessThanOrEqual(MOST_GROWTH)
    }
  })
}

/** The cost ratio for `times` as much text → the ratio for twice as much. */
function doubling(cost: number, times: number): number {
  return cost ** (1 / Math.log2(times))
}

/** The cost ratio for twice the text, derived from four times the text, where the step of a cache is smaller. The
 *  minimum over several lengths, each the minimum of many rounds; a parser that is not linear grows at every one.
 *  No text is cut, because many a parser rejects at once what ends in the middle of a tag. */
async function growth(parser: Parser, hostile: Hostile): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (const part of [1 / 4, 1 / 2, 1]) {
    const length = Math.min(LENGTH, parser.most / 4.1) * part
    const one = new Cost(parser, hostile.make(length))
    const four = new Cost(parser, hostile.make(length * 4))
    let ratio = Number.POSITIVE_INFINITY
    for (let round = 1; round <= GROWTH_ROUNDS && ratio > MOST_GROWTH && four.ms >= MEASURABLE_MS; round++) {
      await four.measure(round)
      ratio = Math.min(ratio, doubling(four.ms / (await one.measure(SHORT_TRIES)), 4))
    }
    if (four.ms >= MEASURABLE_MS) least = Math.min(least, ratio)
    if (least <= MOST_GROWTH) return least
  }
  return Number.isFinite(least) ? least : 1
}

/** The cost of a parser for a text. */
class Cost {
  /** The least so far. */
  ms = Number.POSITIVE_INFINITY
  readonly #work: () => Promise<void>

  constructor(parser: Parser, text: string) {
    this.#work = async () => {
      try {
        await parser.read(text)
      } catch {
        // Most of it is invalid; the cost of rejecting it counts.
      }
    }
  }

  /** Measures up to `tries` times, until the cost is below `enough`. → `ms` */
  async measure(tries: number, enough = 0): Promise<number> {
    for (let count = 0; count < tries && this.ms >= enough; count++) {
      this.ms = Math.min(this.ms, await costMs(this.#work, 1))
    }
    return this.ms
  }
}
