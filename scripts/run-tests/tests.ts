import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isFinished, lastLinesOf, namesOf, type Outcome, type Result, readResults, withoutResult } from './results.ts'

export interface TestRun {
  results: Result[]
  /** What ended without a result, by name. */
  notRun: { file: string; name: string }[]
  /** Test files whose process ended before their tests did, and why. */
  crashes: string[]
  /** Failures that belong to no test, such as a file that cannot be loaded. */
  otherFailures: string[]
}

export interface TestRunOptions {
  /** The checkout. */
  root: string
  /** Where the log and reports go. */
  out: string
  /** Test files, or folders with them, relative to `root`. */
  paths: readonly string[]
  env: Record<string, string>
  /** Milliseconds. Ends a test. */
  testLimitMs: number
  /** Milliseconds. Ends the run. */
  runLimitMs: number
  /** Gets the failures and how far the run is. */
  print: (line: string) => void
}

/** They start first, so that no process is still busy when the others have ended. */
const LONGEST = new Set([
  'test/storage/postgres/contract.test.ts',
  'test/storage/contract.test.ts',
  'test/release/release.test.ts',
  'test/cost/cost.test.ts',
  'test/dashboard/every-page.test.ts',
  'test/dashboard/reference.test.ts',
  'test/storage/postgres/two-nodes.test.ts',
  'test/storage/moving.test.ts',
  'test/walk/walk.test.ts',
  // They wait for most of their time.
  'test/cost/main-thread.test.ts',
  'test/faults/upgrade.test.ts',
  'test/faults/backup.test.ts',
  'test/faults/smtp.test.ts',
  'test/faults/store.test.ts',
  'test/faults/kill.test.ts',
])
/** No test has this name. */
const NO_TEST = '\\0'
const REPORT_EVERY_MS = 30_000
const LOG = 'tests.log'
/** A variable of all processes of a test file. */
const MARK = 'TEST_FILE_RUN'

/** How the process of one test file ended. */
interface FileRun {
  results: Result[]
  /** It came to its end, with whatever results. */
  isFinished: boolean
  /** Exit code, or the signal that ended it. */
  exit: number | string
  /** What it printed last, which may be why it ended. */
  lastLines: string
}

/** Runs test files, two at a time for each processor, each in a process of its own (`bun test --parallel` runs many in one,
 *  and ends all when Bun crashes in one of them). Prints failures when they occur, and writes everything to `tests.log`. A
 *  file whose process dies or never answers again loses only its own tests; those are reported by name. */
export async function runTests(options: TestRunOptions): Promise<TestRun> {
  const { root, out, paths, runLimitMs, print } = options
  const files = paths.flatMap((path) => testFilesOf(root, path))
  const waiting = [...LONGEST].filter((file) => files.includes(file))
  waiting.push(...files.filter((file) => !LONGEST.has(file)))
  writeFileSync(join(out, LOG), '')
  const runs = new Map<string, FileRun>()
  const startedAt = performance.now()
  const endsAt = startedAt + runLimitMs
  const resultsOf = () => [...runs.values()].flatMap(({ results }) => results)
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined && performance.now() < endsAt; file = waiting.shift()) {
      const run = await runFile(options, file, endsAt)
      runs.set(file, run)
      for (const { name, outcome, why } of run.results) if (outcome === 'failed') print(`${file}: ${name}\n${why}`)
      if (!run.isFinished) print(`${file}: ${endOf(run)}`)
    }
  }
  const progress = setInterval(() => {
    const results = resultsOf()
    const counts = `${count(results, 'passed')} passed, ${count(results, 'failed')} failed`
    print(`${counts} after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }, REPORT_EVERY_MS)
  // Files wait for more than half of their time: for other processes, and for time that passes.
  const workers = Math.min(8, 2 * availableParallelism())
  await Promise.all(Array.from({ length: workers }, worker))
  clearInterval(progress)

  const results = resultsOf()
  const unclear = files.filter((file) => {
    const run = runs.get(file)
    return !run?.isFinished || run.results.length === 0 || run.results.some(isFailure)
  })
  const names = await listTests(options, unclear)
  const notRun = [...names].flatMap(([file, all]) =>
    withoutResult(all, runs.get(file)?.results ?? []).map((name) => ({ file, name })),
  )
  const crashes: string[] = []
  const otherFailures: string[] = []
  for (const [file, run] of runs) {
    if (!run.isFinished) crashes.push(`${file}: ${endOf(run)}\n${run.lastLines}`)
    const isFailed = run.results.some(isFailure) || notRun.some((test) => test.file === file)
    if (run.exit !== 0 && !isFailed) otherFailures.push(`${file}: ${names.has(file) ? endOf(run) : 'cannot be loaded'}`)
  }
  return { results, notRun, crashes, otherFailures }
}

/** Runs a test file until `endsAt` on the monotonic clock. A process that prints nothing for twice the limit of a test is
 *  ended: a loop that never returns to the event loop has no limit in Bun. */
async function runFile(options: TestRunOptions, file: string, endsAt: number): Promise<FileRun> {
  const { root, out, env, testLimitMs } = options
  const mark = `${out} ${file}`
  const child = Bun.spawn([process.execPath, 'test', `--timeout=${testLimitMs}`, `./${file}`], {
    cwd: root,
    env: { ...env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: Math.max(1, Math.round(endsAt - performance.now())),
    killSignal: 'SIGKILL',
  })
  const silence = setTimeout(() => child.kill('SIGKILL'), 2 * testLimitMs)
  const ended = child.exited.then(() => endStarted(mark))
  const [standardOutput, printed] = await Promise.all([
    textOf(child.stdout, () => silence.refresh()),
    textOf(child.stderr, () => silence.refresh()),
    ended,
  ])
  clearTimeout(silence)
  appendFileSync(join(out, LOG), `${standardOutput}${printed}`)
  const results = readResults(file, printed)
  const exit = child.signalCode ?? child.exitCode!
  return { results, isFinished: isFinished(printed), exit, lastLines: lastLinesOf(printed) }
}

const isFailure = ({ outcome }: Result) => outcome === 'failed'

const endOf = ({ exit }: FileRun) => `ended ${typeof exit === 'number' ? 'with exit code' : 'by'} ${exit}`

function testFilesOf(root: string, path: string): string[] {
  if (path.endsWith('.ts')) return [path]
  const names = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.test\.tsx?$/.test(name)).map((name) => `${path}/${name}`).sort() // biome-ignore format: one step
}

/** The names of all tests of files, without running them. A file that cannot be loaded is missing. */
async function listTests({ root, out, env }: TestRunOptions, files: readonly string[]): Promise<Map<string, string[]>> {
  if (files.length === 0) return new Map()
  const report = join(out, 'names.xml')
  const args = ['test', '--parallel=2', `--test-name-pattern=${NO_TEST}`, '--reporter=junit']
  const child = Bun.spawn(
    [process.execPath, ...args, `--reporter-outfile=${report}`, ...files.map((file) => `./${file}`)],
    { cwd: root, env, stdio: ['ignore', 'ignore', 'ignore'], timeout: 300_000, killSignal: 'SIGKILL' },
  )
  await child.exited
  return existsSync(report) ? namesOf(readFileSync(report, 'utf8')) : new Map()
}

/** Ends every process that a test file has started and that still runs. (Bun's --no-orphans would also end servers that
 *  were compiled with Bun and outlive the shell that started them.) */
function endStarted(mark: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      if (environment.split('\0').includes(`${MARK}=${mark}`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

export function count(results: readonly Result[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

/** Reads to the end. */
async function textOf(stream: ReadableStream<Uint8Array>, onPart: () => void): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true })
    onPart()
  }
  return text
}
