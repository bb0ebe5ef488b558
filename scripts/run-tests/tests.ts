import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { namesOf, type Outcome, type Result, ResultReader, withoutResult } from './results.ts'

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
/** A variable of all processes of a run. */
const MARK = 'TEST_RUN'
const LOG = 'tests.log'

/** Runs test files. Prints failures when they occur, and writes everything to `tests.log`. A file whose process dies or never
 *  answers again loses only its own tests; those are reported by name. */
export async function runTests(options: TestRunOptions): Promise<TestRun> {
  const { root, out, paths, runLimitMs } = options
  const files = paths.flatMap((path) => testFilesOf(root, path))
  writeFileSync(join(out, LOG), '')
  const reader = new ResultReader()
  const endsAt = performance.now() + runLimitMs
  let exit: number | string = 0
  for (let left = files; left.length > 0; left = reader.isFinished ? reader.takeAborted() : []) {
    exit = (await runOnce(options, left, reader, endsAt)) || exit
  }

  const otherFailures: string[] = []
  const byFile = Map.groupBy(reader.results, ({ file }) => file)
  const isComplete = (file: string) => {
    const results = byFile.get(file) ?? []
    return results.length > 0 && !reader.crashed.has(file) && results.every(({ outcome }) => outcome !== 'failed')
  }
  const names = await listTests(options, reader.isFinished ? files.filter((file) => !isComplete(file)) : files)
  const notRun = [...names].flatMap(([file, all]) =>
    withoutResult(all, byFile.get(file) ?? []).map((name) => ({ file, name })),
  )
  for (const file of files) {
    if (!isComplete(file) && !byFile.has(file) && !names.has(file)) otherFailures.push(`${file}: cannot be loaded`)
  }
  const isFailed = notRun.length > 0 || otherFailures.length > 0 || reader.results.some(isFailure)
  if (exit !== 0 && !isFailed) otherFailures.push(`bun test ended with ${exit}`)
  const crashes = [...reader.crashed].map(([file, why]) => `${file}: ${why}`)
  return { results: reader.results, notRun, crashes, otherFailures }
}

/** Runs `bun test` with two files at a time for each processor, until `endsAt` on the monotonic clock. Each file has a global
 *  object of its own, and its timers, sockets and processes end with it. → the exit code, or the signal that ended it. */
async function runOnce(
  { root, out, env, testLimitMs, print }: TestRunOptions,
  files: readonly string[],
  reader: ResultReader,
  endsAt: number,
): Promise<number | string> {
  const log = join(out, LOG)
  const timings = join(out, 'timings.json')
  const lengths = Object.fromEntries(files.map((file) => [file, LONGEST.has(file) ? 2 : 1]))
  writeFileSync(timings, JSON.stringify({ version: 1, files: lengths }))
  // They wait for more than half of their time: for other processes, and for time that passes.
  const workers = Math.min(8, 2 * availableParallelism())
  const args = [`--parallel=${workers}`, `--timeout=${testLimitMs}`, `--timings=${timings}`]
  const child = Bun.spawn([process.execPath, 'test', ...args, ...files.map((file) => `./${file}`)], {
    cwd: root,
    env: { ...env, [MARK]: out },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: Math.max(1, Math.round(endsAt - performance.now())),
    killSignal: 'SIGKILL',
  })
  reader.start()
  const watch = watchProgress(child.pid, reader, print, 2 * testLimitMs)
  const show = createDisplay(reader, print)
  const ended = child.exited.then(() => endStarted(out))
  const standardOutput = eachLine(child.stdout, (line) => appendFileSync(log, `${line}\n`))
  await eachLine(child.stderr, (line) => {
    appendFileSync(log, `${line}\n`)
    const kind = reader.read(line)
    if (kind !== null) watch.progressed()
    show(line, kind)
  })
  await standardOutput
  watch.stop()
  await ended
  return child.signalCode ?? child.exitCode!
}

const isFailure = ({ outcome }: Result) => outcome === 'failed'

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

/** Ends the processes that run test files when none of them has had a result for `silenceMs`: a loop that never returns
 *  to the event loop has no time limit in Bun. Bun then continues with other files. */
function watchProgress(pid: number, reader: ResultReader, print: TestRunOptions['print'], silenceMs: number) {
  let lastAt = performance.now()
  const startedAt = lastAt
  const timer = setInterval(
    () => {
      const counts = `${count(reader.results, 'passed')} passed, ${count(reader.results, 'failed')} failed`
      print(`${counts} after ${Math.round((performance.now() - startedAt) / 1000)} s`)
      if (performance.now() - lastAt < silenceMs) return
      lastAt = performance.now()
      for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL')
    },
    Math.min(REPORT_EVERY_MS, silenceMs),
  )
  return {
    progressed: () => {
      lastAt = performance.now()
    },
    stop: () => clearInterval(timer),
  }
}

/** Ends every process that the run has started and that still runs: those of test processes that died. (Bun's
 *  --no-orphans would also end servers that were compiled with Bun and outlive the shell that started them.) */
function endStarted(out: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      if (environment.split('\0').includes(`${MARK}=${out}`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

/** proc(5), `/proc/pid/task/tid/children`. */
function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

export function count(results: readonly Result[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

/** → prints a line unless it is of a test that passed or was skipped. */
function createDisplay(
  reader: ResultReader,
  print: TestRunOptions['print'],
): (line: string, kind: ReturnType<ResultReader['read']>) => void {
  let shownFile = ''
  return (line, kind) => {
    if (kind === 'passed' || kind === 'skipped' || kind === 'file' || line.trim() === '') return
    if (reader.file !== shownFile) print(`${reader.file}:`)
    shownFile = reader.file
    print(line)
  }
}

async function eachLine(stream: ReadableStream<Uint8Array>, use: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) use(line)
  }
  if (rest !== '') use(rest)
}
