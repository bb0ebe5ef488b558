/** Makes small mutations in src, one after another, and runs the tests that can reach each.
 *
 *    bun scripts/mutate.ts --seed 7 --count 100 [--only src/mail] [--coverage FILE] [--seconds 120] [--skip 50]
 *
 *  Works in a copy of the checkout. Prints one line for each mutation with its place: killed (by which test, or by the
 *  types) or SURVIVED. A survivor is a hole in the tests, or changes no behaviour: check each. Exit code 0.
 *
 *  - `--coverage`: which test executes which lines. If FILE does not exist, all test files run once for it, some ten
 *    minutes. Then those that execute the mutated line run first; without it, the nearest by imports.
 *  - `--seconds`: after this time no further tests start for a mutation, and test files that take longer alone are left
 *    out. The tests of the built program have as much again.
 *  - `--skip`, `--take`: leaves out the first mutations of the sample, and takes that many; for several processes. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Executed, measureExecuted } from './mutate/executed.ts'
import { type Mutation, mutationsOf } from './mutate/mutations.ts'
import { testReach } from './mutate/reach.ts'

const ROOT = join(import.meta.dir, '..')
const SHARED = ['node_modules', '.bun', '.git']
/** Generated files, and files that only browsers run. */
const LEFT_OUT =
  /\.test\.tsx?$|\.d\.ts$|^src\/client\/(?:types|routes)\.ts$|^src\/analysis\/client-data\.ts$|^src\/dashboard\/ui\//
/** Tests that import it run the built program. */
const PROGRAM_SETUP = 'test/faults/setup.ts'
/** Test files in one run of Bun: 1, 2, 4, then this many. The first ones find most mutations. */
const MAX_BATCH = 8
/** A run that takes this many times as long as its tests alone, and a minute, does not end. */
const SLOWEST = 8
const EXPECTED_MS = 5_000

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    only: { type: 'string', default: 'src' },
    coverage: { type: 'string' },
    seconds: { type: 'string', default: '120' },
    skip: { type: 'string', default: '0' },
    take: { type: 'string' },
  },
})

const copy = mkdtempSync(join(tmpdir(), 'postrider-mutate-'))
/** Process group of the run under way. */
let running: number | null = null
process.on('exit', () => {
  if (running !== null) endGroup(running)
  rmSync(copy, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
cpSync(join(ROOT, 'dist/clients'), join(copy, 'dist/clients'), { recursive: true })
for (const name of readdirSync(ROOT)) {
  if (SHARED.includes(name)) symlinkSync(join(ROOT, name), join(copy, name))
  else if (name !== 'dist') cpSync(join(ROOT, name), join(copy, name), { recursive: true })
}

const sources = [...new Bun.Glob(`${options.only}/**/*.{ts,tsx}`).scanSync(copy)].filter((file) => !LEFT_OUT.test(file))
const all = sources.sort().flatMap((file) => mutationsOf(file, readFileSync(join(copy, file), 'utf8')))
const sample = sampleOf(all, Number(options.count), Number(options.seed))
const skipped = Number(options.skip)
const part = sample.slice(skipped, skipped + Number(options.take ?? options.count))
console.log(`${part.length} of ${all.length} mutations, seed ${options.seed}`)

const distances = testReach(copy)
const programTests = [...distances(PROGRAM_SETUP).keys()]
const executed = options.coverage === undefined ? null : await executedBy(options.coverage)

let killed = 0
for (const mutation of part) {
  const by = await killerOf(mutation)
  if (by !== null) killed++
  const { file, line, what } = mutation
  console.log(`${by === null ? 'SURVIVED' : 'killed  '}  ${file}:${line}  ${what}${by === null ? '' : `  (${by})`}`)
}
console.log(`${killed} killed, ${part.length - killed} survived`)

async function executedBy(file: string): Promise<Executed> {
  await build()
  const found = await measureExecuted(copy, file)
  if (found.failing.size > 0) console.log(`left out, as they fail alone: ${[...found.failing].join(' ')}`)
  return found
}

/** What detects the mutation; null when nothing does. */
async function killerOf({ file, line, start, end, text }: Mutation): Promise<string | null> {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, source.slice(0, start) + text + source.slice(end))
  try {
    return (
      (await failureIn(testsFor(file, line))) ??
      (await failureOf(['x', 'tsc', '--noEmit'], 'types')) ??
      (await build()) ??
      (await failureIn(programTests))
    )
  } finally {
    writeFileSync(path, source)
  }
}

/** The tests of a line, without those of the program: first those that execute it, then those that reach the file by
 *  imports. Among each, the near and quick ones first: one import more weighs as much as twice the time. */
function testsFor(file: string, line: number): string[] {
  const reached = distances(file)
  const furthest = Math.max(0, ...reached.values())
  const costOf = (test: string) => expectedMsOf(test) * 2 ** (reached.get(test) ?? furthest)
  const byCost = (tests: Iterable<string>) => [...tests].sort((a, b) => costOf(a) - costOf(b))
  const tests = new Set([...byCost(executed?.testsAt(file, line) ?? []), ...byCost(reached.keys())])
  return [...tests].filter((test) => !programTests.includes(test) && !executed?.failing.has(test))
}

function expectedMsOf(test: string): number {
  return executed?.durationOf(test) ?? EXPECTED_MS
}

/** Runs tests until one fails or the time is over → the failed test; null if none. */
async function failureIn(tests: readonly string[]): Promise<string | null> {
  const allowedMs = Number(options.seconds) * 1_000
  const deadline = Date.now() + allowedMs
  const left = tests.filter((test) => expectedMsOf(test) <= allowedMs)
  for (let size = 1; left.length > 0 && Date.now() < deadline; size = Math.min(2 * size, MAX_BATCH)) {
    const [first = '', ...others] = left.slice(0, size)
    const batch = [first]
    let expectedMs = expectedMsOf(first)
    for (const test of others) {
      expectedMs += expectedMsOf(test)
      if (Date.now() + expectedMs > deadline) break
      batch.push(test)
    }
    left.splice(0, batch.length)
    const flags = ['--bail', '--timeout=30000', ...batch.map((test) => `./${test}`)]
    const failure = await failureOf(['test', ...flags], batch.join(' '), 60_000 + SLOWEST * expectedMs)
    if (failure !== null) return failure
  }
  return null
}

/** Builds the program from the copy's sources. */
async function build(): Promise<string | null> {
  return failureOf(['scripts/build.ts'], 'build')
}

/** Runs Bun → null for exit code 0, else the name of the failed test, or `what`. */
async function failureOf(args: string[], what: string, limitMs = 120_000): Promise<string | null> {
  const log = join(copy, 'mutate.log')
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: copy,
    stdio: ['ignore', 'ignore', Bun.file(log)],
    timeout: limitMs,
    killSignal: 'SIGKILL',
    detached: true,
  })
  running = child.pid
  await child.exited
  running = null
  endGroup(child.pid)
  if (child.exitCode === 0) return null
  if (child.signalCode === 'SIGKILL') return `no end: ${what}`
  return /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m.exec(readFileSync(log, 'utf8'))?.[1]?.slice(0, 100) ?? what
}

/** Ends the programs that an ended test has left behind. */
function endGroup(id: number): void {
  try {
    process.kill(-id, 'SIGKILL')
  } catch {
    // It left none.
  }
}

/** `count` different ones, the same for the same seed. */
function sampleOf(mutations: readonly Mutation[], count: number, seed: number): Mutation[] {
  const left = [...mutations]
  let state = seed >>> 0
  const random = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0]!,
  )
}
