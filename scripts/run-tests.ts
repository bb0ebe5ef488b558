/** Runs all checks in stages; a failed stage does not stop the next ones. The faults are injected beside the tests.
 *
 *    bun scripts/run-tests.ts            all of them
 *    bun scripts/run-tests.ts --quick    types, style, layers, and the tests beside the files of src and scripts
 *
 *  Every test counts, and every other stage counts as one. Lists what was skipped, what was not run because its process
 *  ended, and what failed. Writes `N passed, N failed` to dist/test/summary, which scripts/test prints as its last
 *  line; there, tests that were not run are among the failed. Exit code 0 without failures, else 1. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureSlowness } from './run-tests/machine.ts'
import { count, runTests, type TestRun } from './run-tests/tests.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist/test')
/** Of a test on a calm machine; on a slow one, it grows in proportion. */
const TEST_LIMIT_MS = 300_000
/** Of all tests, and of any other stage, of which one is beside them. CI sets it (.ci/run); elsewhere it only ends what
 *  hangs. */
const STAGE_LIMIT_MS = Number(process.env.STAGE_LIMIT_MINUTES ?? 240) * 60_000
const MEMORY = '/dev/shm'
/** With a margin; the files of one run were not measured. */
const TEST_FILES_BYTES = 4e9

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

const slowness = measureSlowness()
const testLimitMs = Math.round(TEST_LIMIT_MS * slowness)
console.log(`This machine is ${slowness.toFixed(1)} times as slow as a calm one with two processors.`)
const failedStages: string[] = []
let passedStages = 0

// Before the types, because files of src import some of the generated ones.
await stage('clients', 'scripts/client-types.ts')
await stage('types', 'x', 'tsc')
await stage('style', 'x', 'biome', 'check', '--error-on-warnings')
await stage('layers', 'scripts/check-layers.ts')
let tests: TestRun
if (options.quick) {
  tests = await runAllTests(['src', 'scripts'])
} else {
  await Promise.all([
    stageBeside('patterns', 'scripts/check-patterns.ts'),
    stageBeside('prose', 'scripts/check-prose.ts'),
    // Before the tests, because many run the built program.
    stageBeside('build', 'scripts/build.ts'),
  ])
  // Beside the tests, because they wait for most of their time.
  const faults = stageBeside('faults', 'scripts/faults.ts', '--short')
  tests = await runAllTests(['src', 'scripts', 'test'])
  await faults
  await stage('smoke', 'scripts/smoke.ts')
}
report(tests)

/** Bun's arguments → one passed or one failed, by the exit code. */
async function stage(name: string, ...args: string[]): Promise<void> {
  console.log(`\n── ${name}`)
  await runStage(name, args, 'inherit')
}

/** The same beside others. Its output is printed at its end. */
async function stageBeside(name: string, ...args: string[]): Promise<void> {
  const log = join(OUT, `${name}.log`)
  const print = () => console.log(`\n── ${name}\n${readFileSync(log, 'utf8').trimEnd()}`)
  await runStage(name, args, openSync(log, 'a'), print)
}

async function runStage(name: string, args: string[], output: 'inherit' | number, atEnd = () => {}): Promise<void> {
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: environment(),
    stdio: ['ignore', output, output],
    timeout: STAGE_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const code = await child.exited
  atEnd()
  console.log(
    `${name}: ${code === 0 ? 'passed' : 'failed'} after ${Math.round((performance.now() - startedAt) / 1000)} s`,
  )
  if (code === 0) passedStages++
  else failedStages.push(`${name}: exit code ${child.signalCode ?? code}`)
}

async function runAllTests(paths: string[]): Promise<TestRun> {
  console.log(`\n── tests (all output: dist/test/tests.log)`)
  const limits = { testLimitMs, runLimitMs: STAGE_LIMIT_MS }
  const folder = makeTestFolder()
  const env = { ...environment(), TMPDIR: folder }
  try {
    return await runTests({ root: ROOT, out: OUT, paths, env, ...limits, print: console.log })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** → the folder for the files of all tests, which other users of the machine may enter: in memory if there is room, so
 *  that a slow disk does not matter. The faults, which test durability, use the disk. */
function makeTestFolder(): string {
  const isRoomy = existsSync(MEMORY) && statfsSync(MEMORY).bavail * statfsSync(MEMORY).bsize >= TEST_FILES_BYTES
  const folder = mkdtempSync(join(isRoomy ? MEMORY : tmpdir(), 'postrider-tests-'))
  chmodSync(folder, 0o1777)
  return folder
}

/** Without settings of Postrider. CI makes a forgotten test.only an error. PROGRAM: see test/cli/command.ts. */
function environment(): Record<string, string> {
  const given = Object.entries(process.env).filter(([key]) => !key.startsWith('POSTRIDER_'))
  const ours = { CI: 'true', PROGRAM: join(ROOT, 'dist/postrider'), TEST_LIMIT_MS: String(testLimitMs) }
  return { ...(Object.fromEntries(given) as Record<string, string>), ...ours }
}

/** Prints what was skipped, was not run and failed, and the counts. */
function report({ results, notRun, crashes, otherFailures }: TestRun): void {
  const failedTests = results.filter(({ outcome }) => outcome === 'failed')
  const failedLines = failedTests.map(({ file, name, why }) => `${file}: ${name}${why ? `\n${why}` : ''}`)
  list('skipped', skipped(results))
  list('not run', notRun.map(({ file, name }) => `${file}: ${name}`)) // biome-ignore format: one line each
  // At the end, because CI keeps the end.
  list('crashed', crashes)
  list('failed', [...failedStages, ...otherFailures, ...failedLines])
  const passed = passedStages + count(results, 'passed')
  const failed = failedStages.length + otherFailures.length + failedTests.length
  console.log(`\n${passed} passed, ${failed} failed, ${notRun.length} not run`)
  writeFileSync(join(OUT, 'summary'), `${passed} passed, ${failed + notRun.length} failed\n`)
  process.exitCode = failed + notRun.length === 0 ? 0 : 1
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n── ${title}\n${lines.join('\n')}`)
}

/** → how many tests were skipped without each program, then the names of the other skipped ones. */
function skipped(results: TestRun['results']): string[] {
  const skips = results.filter(({ outcome }) => outcome === 'skipped')
  const byNeed = Map.groupBy(skips, ({ name }) => /\(requires ([^)]+)\)/.exec(name)?.[1] ?? '')
  const others = byNeed.get('') ?? []
  byNeed.delete('')
  const lines = [...byNeed].map(([need, tests]) => `${tests.length} without ${need}`)
  return [...lines, ...others.map(({ file, name }) => `${file}: ${name}`)]
}
