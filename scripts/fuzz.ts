/** Long runs of the properties of test/fuzz:  bun scripts/fuzz.ts [--only dialogs,api] [--runs N] [--seed N]
 *  A target is a file test/fuzz/<target>.test.ts. Each of its properties gets N runs after those of its corpus, in a
 *  separate process; failing values are kept in test/fuzz/corpus/<target>. Prints the seed and the number of runs;
 *  exit code 1 when a property failed, a process ended or a process made no progress for a minute. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dir, '..')
const FOLDER = join(ROOT, 'test/fuzz')
/** Without --runs. Dialogs have two properties. */
const RUNS: Record<string, number> = { dialogs: 500_000, api: 100_000, send: 20_000, mime: 20_000 }
const MOST_RUNS = 100_000
const SILENCE_MS = 60_000

const { values } = parseArgs({
  options: { only: { type: 'string' }, runs: { type: 'string' }, seed: { type: 'string' } },
})
const all = [...new Bun.Glob('*.test.ts').scanSync(FOLDER)].map((file) => file.replace('.test.ts', '')).toSorted()
const chosen = values.only?.split(',') ?? all
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const unknown = chosen.filter((target) => !all.includes(target))
if (unknown.length > 0 || Number.isNaN(seed) || Number.isNaN(Number(values.runs ?? 1))) {
  console.error(`usage: fuzz.ts [--only ${all.join(',')}] [--runs N] [--seed N]`)
  process.exit(2)
}

console.log(`seed ${seed}`)
const scratch = mkdtempSync(join(tmpdir(), 'postrider-fuzz-'))
let failed = 0
for (const target of chosen) {
  const startedAt = performance.now()
  const verdict = await tried(target, Number(values.runs ?? RUNS[target] ?? MOST_RUNS))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  if (verdict !== 'passed') failed++
  console.log(`${target}: ${verdict}, ${seconds} s\n${progressOf(target).replaceAll(/^/gm, '  ').trimEnd()}`)
}
rmSync(scratch, { recursive: true, force: true })
console.log(failed === 0 ? 'all passed' : `${failed} of ${chosen.length} targets failed, seed ${seed}`)
process.exitCode = failed === 0 ? 0 : 1

async function tried(target: string, runs: number): Promise<string> {
  const child = Bun.spawn([process.execPath, 'test', '--timeout=86400000', join(FOLDER, `${target}.test.ts`)], {
    cwd: ROOT,
    env: { ...process.env, FUZZ_RUNS: `${runs}`, FUZZ_SEED: `${seed}`, FUZZ_PROGRESS: join(scratch, target) },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  let last = ''
  let hangs = false
  let lastAt = performance.now()
  const watch = setInterval(() => {
    const now = progressOf(target)
    if (now !== last) lastAt = performance.now()
    last = now
    hangs = performance.now() - lastAt > SILENCE_MS
    if (hangs) child.kill('SIGKILL')
  }, 1_000)
  const code = await child.exited
  clearInterval(watch)
  if (hangs) return `hung: nothing for ${SILENCE_MS / 1000} s`
  return code === 0 ? 'passed' : `failed (exit code ${code}${child.signalCode ? `, ${child.signalCode}` : ''})`
}

/** A line for each property: target, property, runs so far. */
function progressOf(target: string): string {
  try {
    return readFileSync(join(scratch, target), 'utf8')
  } catch {
    return '' // it has not started
  }
}
