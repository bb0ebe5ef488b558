/** Reports the kinds of work that cost over 15 % more CPU than scripts/guard-baseline.json says.
 *
 *    bun scripts/guard.ts            measures dist/postrider, or --binary FILE, and compares
 *    bun scripts/guard.ts --strict   the same, with exit code 1 when a cost grew
 *    bun scripts/guard.ts --renew    measures, and writes the baseline: commit it with the change of the cost
 *    bun scripts/guard.ts --against FILE    compares with an earlier build, phase by phase, and nothing else
 *
 *  The kinds: accepting a mail of 10 KB; delivering it, signed twice, with its records; posting its event to a webhook;
 *  receiving a signed mail by SMTP. It measures CPU, not time, so other programs may run; and in signatures with
 *  RSA-2048 measured in turn with it, so that the speed of the machine does not matter. Other programs still make caches
 *  colder: accepting costs 0.51 to 0.60 on a calm machine and cost 0.72 in CI. The baseline is set for CI; a renewed one
 *  of a calm machine is too low. A kind that grew is measured up to five times more, and its lowest cost counts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pair } from './guard/pair.ts'
import { openProgram } from './guard/program.ts'
import { COSTS, type Cost, type Costs, measureCosts, warmUp } from './guard/rounds.ts'
import { createYardstick } from './guard/yardstick.ts'

const MAY_GROW = 1.15
const MOST_REPEATS = 5
const DEFAULT_BINARY = join(import.meta.dir, '../dist/postrider')
const BASELINE = join(import.meta.dir, 'guard-baseline.json')

const { values: options } = parseArgs({
  options: {
    renew: { type: 'boolean', default: false },
    binary: { type: 'string', default: DEFAULT_BINARY },
    against: { type: 'string' },
    strict: { type: 'boolean', default: false },
  },
})
if (options.against !== undefined) {
  await pair(options.binary, options.against)
  process.exit()
}
const dearer = await compare()
if (dearer.length > 0)
  console.log(`${dearer.join(', ')} became dearer; if that is intended: bun scripts/guard.ts --renew`)
process.exit(options.strict && dearer.length > 0 ? 1 : 0)

/** → the kinds of work that cost too much; none with `--renew`. */
async function compare(): Promise<Cost[]> {
  const signatureMs = createYardstick()
  const program = await openProgram(options.binary)
  try {
    await warmUp(program)
    let costs = await measureCosts(program, signatureMs)
    if (options.renew) renew(costs)
    const known: Costs = JSON.parse(readFileSync(BASELINE, 'utf8'))
    const tooMuch = () => COSTS.filter((name) => costs[name] > known[name] * MAY_GROW)
    for (let repeats = 0; repeats < MOST_REPEATS && tooMuch().length > 0; repeats++) {
      costs = lower(costs, await measureCosts(program, signatureMs))
    }
    console.log(
      `CPU in RSA-2048 signatures, of ${signatureMs().toFixed(3)} ms here; over ${MAY_GROW} of the baseline is dearer`,
    )
    for (const name of COSTS) console.log(line(name, costs[name], known[name]))
    return tooMuch()
  } finally {
    await program.end()
  }
}

function renew(costs: Costs): void {
  const rounded = Object.fromEntries(COSTS.map((name) => [name, Number(costs[name].toFixed(2))]))
  writeFileSync(BASELINE, `${JSON.stringify(rounded, null, 2)}\n`)
}

function lower(first: Costs, second: Costs): Costs {
  const of = (name: Cost) => Math.min(first[name], second[name])
  return { accept: of('accept'), deliver: of('deliver'), post: of('post'), inbound: of('inbound') }
}

function line(name: Cost, cost: number, known: number): string {
  return `${name.padEnd(8)} ${cost.toFixed(2)}, baseline ${known}: ${(cost / known).toFixed(2)}`
}
