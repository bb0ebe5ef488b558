/** Runs all checks in stages; a failed stage does not stop the next ones. Writes `N passed, N failed` to
 *  dist/test/summary, which scripts/test prints as its last line: every test counts, and every other stage counts as
 *  one. Exit code 0 without failures, else 1. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const OUT = join(ROOT, 'dist/test')
// These limits only end hanging tests. Bun's default of 5 s for a test is too short on a busy machine, where a test of
// 1.5 s has taken that long.
const STAGE_LIMIT_MS = 40 * 60_000
const TEST_LIMIT_MS = 60_000
/** So that the two lanes end at about the same time. */
const LONGEST_FIRST = ['test/storage', 'test/dashboard', 'test/flow', 'test/cli', 'test/api', 'test/threats']

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

interface Count {
  passed: number
  failed: number
}

/** Shown again at the end. */
const failures: string[] = []
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

if (failures.length > 0) console.log(`\n── failed\n${[...new Set(failures)].join('\n')}`)
const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
writeFileSync(join(OUT, 'summary'), `${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

/** Bun's arguments → one passed or one failed, by the exit code. */
async function stage(name: string, ...args: string[]): Promise<Count> {
  const { code } = await run(name, args)
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/** The tests, folder by folder, two at a time because the machines of CI have two processors. */
async function tests(): Promise<Count[]> {
  const folders = new Set(readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).flatMap(folderOf))
  const others = [...folders].filter((folder) => !LONGEST_FIRST.includes(folder)).sort()
  const waiting = [...LONGEST_FIRST, 'src', 'scripts', ...others]
  const counts: Count[] = []
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) counts.push(await testFolder(next))
  }
  console.log('\n── tests')
  await Promise.all([work(), work()])
  return counts
}

/** Path of a file below test → what runs it: its folder, the file itself if it lies in test, nothing if it is no test. */
function folderOf(path: string): string[] {
  return path.endsWith('.test.ts') ? [`test/${path.split('/')[0]}`] : []
}

/** The tests of a folder → how many passed and failed. */
async function testFolder(folder: string): Promise<Count> {
  const name = folder.replaceAll('/', '-')
  const report = join(OUT, `${name}.xml`)
  const options = [`--timeout=${TEST_LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  const path = `./${folder}${folder.endsWith('.ts') ? '' : '/'}`
  const { code } = await run(folder, ['test', ...options, path], join(OUT, `${name}.log`))
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

/** Runs this Bun and shows its output: as it comes, or when it ends if it goes to `file` first, because another run shows
 *  its own. */
async function run(name: string, args: string[], file?: string): Promise<{ code: number }> {
  if (file === undefined) console.log(`\n── ${name}`)
  const env = Object.entries(process.env).filter(([key]) => !key.startsWith('POSTRIDER_'))
  const output = file === undefined ? 'inherit' : Bun.file(file)
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    // CI makes a forgotten test.only an error. PROGRAM: see test/cli/command.ts.
    env: { ...Object.fromEntries(env), CI: 'true', PROGRAM: join(ROOT, 'dist/postrider') },
    stdio: ['ignore', output, output],
    timeout: STAGE_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  const code = await child.exited
  if (file !== undefined) {
    const printed = await Bun.file(file).text()
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    console.log(`\n── ${name}, ${seconds} s\n${printed}`)
    failures.push(...printed.split('\n').filter((line) => line.startsWith('(fail)')))
  }
  if (code !== 0) failures.push(`${name}: exit code ${code}`)
  return { code }
}
