/** Runs all checks in stages; a failed stage does not stop the next ones. Writes `N passed, N failed` to
 *  dist/test/summary, which scripts/test prints as its last line: every test counts, and every other stage counts as
 *  one. Exit code 0 without failures, else 1. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist/test')
// These limits only end hanging tests. Bun's default of 5 s for a test is too short on a busy machine, where a test of
// 1.5 s has taken that long.
const STAGE_LIMIT_MS = 40 * 60_000
const TEST_LIMIT_MS = 60_000

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

interface Count {
  passed: number
  failed: number
}

const counts: Count[] = [
  await stage('types', 'x', 'tsc', '--noEmit'),
  await stage('style', 'x', 'biome', 'check', '--error-on-warnings'),
  await stage('layers', 'scripts/check-layers.ts'),
  await stage('patterns', 'scripts/check-patterns.ts'),
  await stage('prose', 'scripts/check-prose.ts'),
  // Before the tests: those in test/faults run the built program.
  await stage('build', 'scripts/build.ts'),
  ...(await tests()),
  await stage('smoke', 'scripts/smoke.ts'),
  await stage('faults', 'scripts/faults.ts', '--short'),
  await stage('guard', 'scripts/guard.ts'),
]

const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
writeFileSync(join(OUT, 'summary'), `${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** Bun's arguments → one passed or one failed, by the exit code. */
async function stage(name: string, ...args: string[]): Promise<Count> {
  const { code } = await run(name, args)
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/** Tests of the stores wait for databases most of the time, so they run beside the others. */
async function tests(): Promise<Count[]> {
  return Promise.all([
    testFiles('tests', ['--path-ignore-patterns=test/storage/**']),
    testFiles('tests of stores', ['test/storage/'], true),
  ])
}

/** Arguments that select test files → how many of their tests passed and failed. */
async function testFiles(name: string, selection: string[], isAside = false): Promise<Count> {
  const report = join(OUT, `${name}.xml`)
  const options = [`--timeout=${TEST_LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  const { code } = await run(name, ['test', ...options, ...selection], isAside)
  const junit = await Bun.file(report)
    .text()
    .catch(() => '')
  // A test file that calls process.exit(0) during its load ends the run without a report.
  const totals = /<testsuites\b[^>]*>/.exec(junit)?.[0]
  if (totals === undefined) return { passed: 0, failed: 1 }
  const number = (attribute: string) => Number(new RegExp(`\\s${attribute}="(\\d+)"`).exec(totals)?.[1] ?? 0)
  const failed = number('failures') + number('errors')
  // An exit code without a failed test is an error outside tests, such as a forgotten test.only.
  return { passed: number('tests') - failed - number('skipped'), failed: code === 0 ? failed : Math.max(failed, 1) }
}

/** Runs this Bun and shows its output: as it comes, or with `isAside` when it ends, because another run shows its own. */
async function run(name: string, args: string[], isAside = false): Promise<{ code: number }> {
  const aside = join(OUT, 'aside.log')
  if (!isAside) console.log(`\n── ${name}`)
  const env = Object.entries(process.env).filter(([key]) => !key.startsWith('POSTRIDER_'))
  const output = isAside ? Bun.file(aside) : 'inherit'
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    // CI makes a forgotten test.only an error.
    env: { ...Object.fromEntries(env), CI: 'true' },
    stdio: ['ignore', output, output],
    timeout: STAGE_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const code = await child.exited
  if (isAside) console.log(`\n── ${name}\n${await Bun.file(aside).text()}`)
  if (code !== 0) console.log(`── ${name} failed (exit code ${code})`)
  return { code }
}
