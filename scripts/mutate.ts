/** Makes small mutations in src, one after another, and runs the tests that can reach each.
 *
 *    bun scripts/mutate.ts --seed 7 --count 100 [--only src/mail] [--seconds 120]
 *
 *  Works in a copy of the checkout. Prints one line for each mutation with its place: killed (by which test, or by the
 *  types) or SURVIVED. A survivor is a hole in the tests, or changes no behaviour: check each. Exit code 0.
 *
 *  After `--seconds`, no further tests start for a mutation; the tests of the built program have as much again. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutation, mutationsOf } from './mutate/mutations.ts'
import { testReach } from './mutate/reach.ts'

const ROOT = join(import.meta.dir, '..')
const SHARED = ['node_modules', '.bun', '.git']
/** Generated files, and files that only browsers run. */
const LEFT_OUT =
  /\.test\.tsx?$|\.d\.ts$|^src\/client\/(?:types|routes)\.ts$|^src\/sending\/analysis\/client-data\.ts$|^src\/web\/dashboard\/ui\//
/** Tests that import it run the built program. */
const PROGRAM_SETUP = 'test/faults/setup.ts'
/** Test files in one run of Bun: 1, 2, 4, then this many. The first ones find most mutations. */
const MAX_BATCH = 8
/** A run of tests that takes longer does not end. */
const LIMIT_MS = 300_000

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    only: { type: 'string', default: 'src' },
    seconds: { type: 'string', default: '120' },
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
console.log(`${sample.length} of ${all.length} mutations, seed ${options.seed}`)

const testsOf = testReach(copy)
const programTests = testsOf(PROGRAM_SETUP)
let killed = 0
for (const mutation of sample) {
  const by = await killerOf(mutation)
  if (by !== null) killed++
  const { file, line, what } = mutation
  console.log(`${by === null ? 'SURVIVED' : 'killed  '}  ${file}:${line}  ${what}${by === null ? '' : `  (${by})`}`)
}
console.log(`${killed} killed, ${sample.length - killed} survived`)

/** What detects the mutation; null when nothing does. */
async function killerOf({ file, start, end, text }: Mutation): Promise<string | null> {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, source.slice(0, start) + text + source.slice(end))
  try {
    return (
      (await failureIn(testsOf(file).filter((test) => !programTests.includes(test)))) ??
      (await failureOf(['x', 'tsc', '--noEmit'], 'types')) ??
      (await build()) ??
      (await failureIn(programTests))
    )
  } finally {
    writeFileSync(path, source)
  }
}

/** Runs tests until one fails or the time is over → the failed test; null if none. */
async function failureIn(tests: readonly string[]): Promise<string | null> {
  const deadline = Date.now() + Number(options.seconds) * 1_000
  const left = [...tests]
  for (let size = 1; left.length > 0 && Date.now() < deadline; size = Math.min(2 * size, MAX_BATCH)) {
    const batch = left.splice(0, size).map((test) => `./${test}`)
    const failure = await failureOf(['test', '--bail', '--timeout=30000', ...batch], batch.join(' '))
    if (failure !== null) return failure
  }
  return null
}

/** Builds the program from the copy's sources. */
async function build(): Promise<string | null> {
  return failureOf(['scripts/build.ts'], 'build')
}

/** Runs Bun → null for exit code 0, else the name of the failed test, or `what`. */
async function failureOf(args: string[], what: string): Promise<string | null> {
  const log = join(copy, 'mutate.log')
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: copy,
    stdio: ['ignore', 'ignore', Bun.file(log)],
    timeout: LIMIT_MS,
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
