/** The CPU time of every parser for every class of hostile text: 100 kB take under 50 ms, and twice the text takes
 *  about twice as long. CPU time excludes other programs. On a machine slower than the one the limit was set
 *  on, the limit grows in proportion. Other work of the machine only adds time, so the least of several measurements
 *  counts, and a measurement that meets the limits is not repeated. */
import { expect, test } from 'bun:test'
import { costMs, limitNow } from '../support/cpu-cost.ts'
import { HOSTILE, type Hostile } from './hostile.ts'
import { PARSERS, type Parser } from './parsers.ts'

const LENGTH = 100_000
const MOST_MS = 50
/** New memory that a parser may use for 100 kB. It costs 2 ms, or 50 ms on a virtual machine that pays for each page. */
const NEW_MB = 10
/** For twice the text. A parser that reads all of it again for each part takes 4 times as long, a linear one up to 2.4:
 *  what it keeps outgrows the caches, and the garbage collector reads it more often. */
const MOST_GROWTH = 2.8
/** Many times as much text, because a step of the caches or of the collector counts less in it. */
const GROWTH_TIMES = 16
/** Below this, a quadratic parser would stay under MOST_MS at the whole length too, and 25 times the time would go
 *  unnoticed. */
const QUICK_MS = 1.5
/** Less is indistinguishable from garbage collection. */
const MEASURABLE_MS = 25
/** A single measurement of a short text may be one of the garbage collector. */
const SHORT_TRIES = 3
const ROUNDS = 4
const SLOW_ROUNDS = 40
const GROWTH_ROUNDS = 24

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
        const limit = await limitNow(MOST_MS, NEW_MB)
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

/** The cost ratio for twice the text, derived from GROWTH_TIMES the text; the least of several rounds, and 1 if the cost
 *  is not measurable. No text is cut, because many a parser rejects at once what ends in the middle of a tag. */
async function growth(parser: Parser, hostile: Hostile): Promise<number> {
  const length = Math.min(4 * LENGTH, parser.most / 1.1) / GROWTH_TIMES
  const one = new Cost(parser, hostile.make(length))
  const many = new Cost(parser, hostile.make(length * GROWTH_TIMES))
  let least = Number.POSITIVE_INFINITY
  for (let round = 1; round <= GROWTH_ROUNDS && least > MOST_GROWTH; round++) {
    if ((await many.measure(1)) < MEASURABLE_MS) return 1
    least = Math.min(least, doubling(many.ms / (await one.measure(SHORT_TRIES)), GROWTH_TIMES))
  }
  return least
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
