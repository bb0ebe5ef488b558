import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

/** What each test file executes in src when it runs alone. Child processes and threads are not seen. */
export interface Executed {
  /** Test files that execute a line, in no order. */
  testsAt(file: string, line: number): string[]
  /** Milliseconds of a test file; null for one that was not measured. */
  durationOf(test: string): number | null
  /** Test files that fail without a mutation: they tell nothing. */
  failing: ReadonlySet<string>
}

/** As stored: test file → its measurement; null if it fails. */
type Measurements = Record<string, Measurement | null>
interface Measurement {
  durationMs: number
  /** Source file → numbers of its executed lines. */
  lines: Record<string, number[]>
}

const RUN_LIMIT_MS = 600_000

/** Loads `file`, runs those test files of the checkout `root` that it does not contain, each in its own process and
 *  one per core, and stores the result. */
export async function measureExecuted(root: string, file: string): Promise<Executed> {
  const known: Measurements = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const tests = [...new Bun.Glob('{src,test,scripts}/**/*.test.{ts,tsx}').scanSync(root)].sort()
  const missing = tests.filter((test) => !(test in known))
  if (missing.length > 0) {
    console.log(`measuring ${missing.length} test files`)
    const left = missing.values()
    const measureLeft = async () => {
      for (const test of left) known[test] = await measured(root, test)
    }
    await Promise.all(Array.from({ length: availableParallelism() }, measureLeft))
    writeFileSync(file, JSON.stringify(known))
  }
  return executedOf(known)
}

function executedOf(known: Measurements): Executed {
  const tests = new Map<string, string[]>()
  for (const [test, measurement] of Object.entries(known)) {
    for (const [file, lines] of Object.entries(measurement?.lines ?? {})) {
      for (const line of lines) {
        const place = `${file}:${line}`
        const there = tests.get(place)
        if (there === undefined) tests.set(place, [test])
        else there.push(test)
      }
    }
  }
  return {
    testsAt: (file, line) => tests.get(`${file}:${line}`) ?? [],
    durationOf: (test) => known[test]?.durationMs ?? null,
    failing: new Set(Object.keys(known).filter((test) => known[test] === null)),
  }
}

async function measured(root: string, test: string): Promise<Measurement | null> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-executed-'))
  const startedAt = Date.now()
  try {
    const flags = ['--timeout=60000', '--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`]
    const child = Bun.spawn([process.execPath, 'test', ...flags, `./${test}`], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: RUN_LIMIT_MS,
      killSignal: 'SIGKILL',
    })
    if ((await child.exited) !== 0) return null
    const report = join(folder, 'lcov.info')
    const lines = existsSync(report) ? executedLines(readFileSync(report, 'utf8')) : {}
    return { durationMs: Date.now() - startedAt, lines }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An LCOV report → the executed lines of files in src. */
function executedLines(report: string): Record<string, number[]> {
  const found: Record<string, number[]> = {}
  for (const record of report.split('end_of_record')) {
    const file = /^SF:(src\/.*)$/m.exec(record)?.[1]
    if (file === undefined) continue
    found[file] = [...record.matchAll(/^DA:(\d+),[1-9]/gm)].map(([, line]) => Number(line))
  }
  return found
}
