import { PHASES, type Phase, type Program } from './program.ts'

/** What the guard compares. `deliver` is the cost of a mail without that of accepting one. */
export const COSTS = ['accept', 'deliver', 'post', 'inbound'] as const
export type Cost = (typeof COSTS)[number]

/** In RSA-2048 signatures: CPU of all threads for one mail, post or inbound mail. */
export type Costs = Record<Cost, number>

/** Units of one phase in one round. */
const COUNTS: Record<Phase, number> = { accept: 600, mail: 600, post: 600, inbound: 300 }
const ROUNDS = 9
/** Rounds that count: the cheapest. Other programs only ever add to a round, and full garbage collections fall on a few. On
 *  a machine with 6 to 16 programs waiting for two cores, this stays within 8 % above its median, and a median of rounds
 *  within 15 %. */
const CHEAPEST = 3

/** Runs each phase until the runtime has compiled its hot code; everything costs more before. */
export async function warmUp(program: Program): Promise<void> {
  await program.measure('mail', 2_500)
  await program.measure('accept', 1_500)
  await program.measure('post', 2_500)
  await program.measure('inbound', 600)
}

/** Runs the phases in turn, with the yardstick before and after each → their costs. `signatureMs` measures one signature. */
export async function measureCosts(program: Program, signatureMs: () => number): Promise<Costs> {
  const rounds: Costs[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const cost = {} as Record<Phase, number>
    let before = signatureMs()
    for (const phase of PHASES) {
      const { all } = await program.measure(phase, COUNTS[phase])
      const after = signatureMs()
      cost[phase] = (2 * all) / (before + after)
      before = after
    }
    const { accept, mail, post, inbound } = cost
    rounds.push({ accept, deliver: mail - accept, post, inbound })
  }
  const of = (name: Cost) => meanOfLowest(rounds.map((round) => round[name]))
  return { accept: of('accept'), deliver: of('deliver'), post: of('post'), inbound: of('inbound') }
}

function meanOfLowest(values: number[]): number {
  const lowest = values.toSorted((a, b) => a - b).slice(0, CHEAPEST)
  return lowest.reduce((sum, value) => sum + value, 0) / CHEAPEST
}
