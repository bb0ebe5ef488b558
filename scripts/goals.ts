/** What a mail appliance must have, row by row, and how far we are: a figure that is measured on the built program, or
 *  the tests that show it.
 *
 *    bun scripts/goals.ts [--program FILE] [--json]
 *
 *  A row is `met`, `partly` (with what is missing) or `missed`. A test that is named and is not there makes its row
 *  `missed`; whether the tests pass is what scripts/test tells. Exit code 1 when a row could not be looked at. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Goal, Look, Verdict } from './goals/goal.ts'
import { GOALS } from './goals/goals.ts'
import { missingTests } from './goals/tests.ts'

const ROOT = join(import.meta.dir, '..')
const { values: options } = parseArgs({
  options: {
    program: { type: 'string', default: join(ROOT, 'dist/postrider') },
    json: { type: 'boolean', default: false },
  },
})
if (!existsSync(options.program)) {
  console.error(`goals: ${options.program} is not there: bun run build`)
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'postrider-goals-'))
const looked: { goal: Goal; verdict: Verdict }[] = []
try {
  for (const goal of GOALS) {
    const verdict = await look(goal, { program: options.program, folder, root: ROOT })
    looked.push({ goal, verdict })
    if (!options.json) console.log(lineOf(goal, verdict))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const count = (state: Verdict['state']) => looked.filter(({ verdict }) => verdict.state === state).length
if (options.json) {
  const rows = looked.map(({ goal: { number, area, goal }, verdict }) => ({ number, area, goal, ...verdict }))
  console.log(JSON.stringify({ rows }, null, 2))
} else console.log(`\n${count('met')} met, ${count('partly')} partly, ${count('missed')} missed`)

async function look(goal: Goal, place: Parameters<Look>[0]): Promise<Verdict> {
  const gone = missingTests(place.root, goal.tests ?? [])
  if (gone.length > 0) return { state: 'missed', figure: `no test: ${gone.join('; ')}`, lacks: null }
  const shown = goal.tests === undefined ? null : `shown by ${goal.tests.map(fileOf).join(', ')}`
  try {
    const { isMet = true, figure = null } = (await goal.look?.(place)) ?? {}
    const lacks = goal.lacks ?? null
    const state = isMet ? (lacks === null ? 'met' : 'partly') : 'missed'
    return { state, figure: [figure, shown].filter((each) => each !== null).join('; '), lacks }
  } catch (error) {
    process.exitCode = 1
    return { state: 'missed', figure: `could not be looked at: ${error}`, lacks: null }
  }
}

function lineOf({ number, area, goal }: Goal, { state, figure, lacks }: Verdict): string {
  const mark = { met: '✓', partly: '~', missed: '✗' }[state]
  const missing = lacks === null ? '' : `\n     lacks: ${lacks}`
  return `${mark} ${String(number).padStart(2)} ${area}: ${goal}\n     ${figure}${missing}`
}

function fileOf(test: string): string {
  return test.split(':')[0]!
}
