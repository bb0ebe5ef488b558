/** All checks, one stage after the other; a failed stage does not stop those behind it. Writes its count to
 *  dist/test/summary, for scripts/test to print as the last line. A stage counts as one, the tests each by themselves.
 *  Exit code 0 when nothing failed, else 1. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Count, countTests } from './test-count.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist/test')
const JUNIT = join(OUT, 'junit.xml')
// Guards against what never ends, so far above what anything needs, on a machine that does other things meanwhile too. Bun
// would give a test 5 s, which one of 1.5 s takes beside three busy programs.
const STAGE_LIMIT_MS = 40 * 60_000
const TEST_LIMIT_MS = 60_000

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

const counts: Count[] = [
  await stage('types', 'x', 'tsc', '--noEmit'),
  await stage('style', 'x', 'biome', 'check', '--error-on-warnings'),
  await stage('layers', 'scripts/check-layers.ts'),
  await stage('patterns', 'scripts/check-patterns.ts'),
  // Before the tests: those in test/crash kill the program itself.
  await stage('build', 'scripts/build.ts'),
  await tests(),
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

async function tests(): Promise<Count> {
  const { code, error } = await run('tests', [
    'test',
    `--timeout=${TEST_LIMIT_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${JUNIT}`,
  ])
  const junit = await Bun.file(JUNIT)
    .text()
    .catch(() => '')
  const { count, doubts } = countTests({ code, error, junit })
  for (const doubt of doubts) console.error(`tests: ${doubt}`)
  return count
}

/** Runs this Bun, shows what it writes, and keeps its standard error. */
async function run(name: string, args: string[]): Promise<{ code: number; error: string }> {
  console.log(`\n── ${name}`)
  const env = Object.entries(process.env).filter(([key]) => !key.startsWith('POSTRIDER_'))
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    // CI: a test.only that was left behind is an error.
    env: { ...Object.fromEntries(env), CI: 'true' },
    stdout: 'inherit',
    stderr: 'pipe',
    timeout: STAGE_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  let error = ''
  const decoder = new TextDecoder()
  for await (const part of child.stderr) {
    process.stderr.write(part)
    error += decoder.decode(part, { stream: true })
  }
  const code = await child.exited
  if (code !== 0) console.log(`── ${name} failed (exit code ${code})`)
  return { code, error }
}
