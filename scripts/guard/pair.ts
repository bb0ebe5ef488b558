import { openProgram, PHASES, type Phase } from './program.ts'
import { warmUp } from './rounds.ts'

const ROUNDS = 14
const UNITS = 400

/** Runs both programs at the same time and each phase of them in turn, in short rounds, and prints what `file` costs as a
 *  share of `against`: median and quartiles, for all threads and for the main thread. */
export async function pair(file: string, against: string): Promise<void> {
  const [own, other] = [await openProgram(file), await openProgram(against)]
  try {
    await warmUp(own)
    await warmUp(other)
    const shares = new Map<string, number[]>()
    const note = (name: string, share: number) => shares.set(name, [...(shares.get(name) ?? []), share])
    for (let round = 0; round < ROUNDS; round++) {
      for (const phase of PHASES) {
        const { all, main } = await shareOf(phase, round % 2 === 0 ? [own, other] : [other, own], own)
        note(phase, all)
        note(`${phase}, main thread`, main)
      }
    }
    for (const [name, values] of shares) console.log(`${name.padEnd(22)} ${quartiles(values)}`)
  } finally {
    await own.end()
    await other.end()
  }
}

type Program = Awaited<ReturnType<typeof openProgram>>

async function shareOf(phase: Phase, order: [Program, Program], own: Program) {
  const [first, second] = [await order[0].measure(phase, UNITS), await order[1].measure(phase, UNITS)]
  const [mine, other] = order[0] === own ? [first, second] : [second, first]
  return { all: mine.all / other.all, main: mine.main / other.main }
}

function quartiles(values: number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) =>
    sorted[Math.round((sorted.length - 1) * part)]!.toFixed(3),
  )
  return `${middle} (${low}–${high})`
}
