import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { quartiles, table } from './figures.ts'
import { openProgram, type Program, type Sample, type Work } from './program.ts'
import { createYardstick } from './yardstick.ts'

const BASELINE = join(import.meta.dir, 'baseline.json')
const MAY_GROW = 1.15
/** Rounds that count for the baseline: other programs and full garbage collections only ever add to a round. */
const CHEAPEST = 3
/** Rounds before those that count, until the runtime has compiled hot code. */
const WARM_UP = 4

export interface WorksOptions {
  /** One executable, or two that are compared. */
  files: string[]
  rounds: number
  /** Of each work in a round. */
  count: number
  connections: number
  /** Writes the costs to the baseline. */
  renews: boolean
}

/** Samples of the rounds of a program, each with its CPU in RSA-2048 signatures. */
type Samples = (Sample & { signatures: number })[]

/** Runs the works in turn, in short rounds, and prints the rate and CPU of each, and its share of the baseline. With a second
 *  executable, both run at the same time and do each work in turn, so that a slow moment of the machine falls on both; then
 *  it prints the ratios of the first to the second instead. → the works that cost over 15 % more than the baseline says; none
 *  with a second executable or a new baseline. */
export async function measureWorks(works: Work[], options: WorksOptions): Promise<Work[]> {
  const { files, rounds, count, connections, renews } = options
  const signatureMs = createYardstick()
  const programs: Program[] = []
  const samples = new Map<Work, Samples[]>(works.map((work) => [work, files.map(() => [])]))
  try {
    for (const file of files) programs.push(await openProgram(file))
    for (const program of programs) for (const work of works) await program.measure(work, WARM_UP * count, connections)
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? [...programs.keys()] : [...programs.keys()].reverse()
      for (const [work, ofPrograms] of samples) {
        for (const at of order) {
          const before = signatureMs()
          const sample = await programs[at]!.measure(work, count, connections)
          ofPrograms[at]!.push({ ...sample, signatures: (2 * sample.cpuMs) / (before + signatureMs()) })
        }
      }
    }
  } finally {
    for (const program of programs) await program.end()
  }
  console.log(`An RSA-2048 signature takes ${signatureMs().toFixed(3)} ms of CPU.`)
  if (files.length > 1) return compare(samples)
  return judge(samples, renews)
}

function judge(samples: Map<Work, Samples[]>, renews: boolean): Work[] {
  const known: Partial<Record<Work, number>> = JSON.parse(readFileSync(BASELINE, 'utf8'))
  const costs = new Map(
    [...samples].map(([work, [own]]) => [work, meanOfLowest(own!.map(({ signatures }) => signatures))]),
  )
  const rows = [...samples].map(([work, [own]]) => {
    const cost = costs.get(work)!
    return [
      work,
      ...columns(own!),
      `${cost.toFixed(2)}, ${(cost / (known[work] ?? Number.NaN)).toFixed(2)} of the baseline`,
    ]
  })
  console.log(table(['Work', ...COLUMNS, 'Signatures'], rows))
  if (renews) {
    writeFileSync(BASELINE, `${JSON.stringify({ ...known, ...rounded(costs) }, null, 2)}\n`)
    return []
  }
  return [...costs].filter(([work, cost]) => cost > (known[work] ?? Number.NaN) * MAY_GROW).map(([work]) => work)
}

function compare(samples: Map<Work, Samples[]>): Work[] {
  const rows = [...samples].flatMap(([work, [own, other]]) => {
    const ratio = (name: keyof Sample) => quartiles(own!.map((sample, round) => sample[name] / other![round]![name]))
    return [
      [work, ...columns(own!)],
      [`${work}, against`, ...columns(other!)],
      [`${work}, ratio`, ratio('perSecond'), ratio('cpuMs'), ratio('mainMs')],
    ]
  })
  console.log(table(['Work', ...COLUMNS], rows))
  return []
}

const COLUMNS = ['Per second', 'CPU, ms', 'Main thread, ms']

function columns(samples: Samples): string[] {
  return (['perSecond', 'cpuMs', 'mainMs'] as const).map((name) => quartiles(samples.map((sample) => sample[name])))
}

function meanOfLowest(values: number[]): number {
  const lowest = values.toSorted((a, b) => a - b).slice(0, CHEAPEST)
  return lowest.reduce((sum, value) => sum + value, 0) / lowest.length
}

function rounded(costs: Map<Work, number>): Record<string, number> {
  return Object.fromEntries([...costs].map(([work, cost]) => [work, Number(cost.toFixed(2))]))
}
