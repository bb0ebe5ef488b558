import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

/** How long a property runs. Under `bun test` short and with a fixed seed, so that the suite is fast and stable. With
 *  FUZZ_RUNS it runs that many times, with the values of FUZZ_SEED, a number. Failing values of such a run are kept in
 *  corpus/<target>/<property>-….json, and every later run starts with them. */
export interface Place {
  /** The name of the test file, without `.test.ts`. */
  target: string
  /** In the names of files: letters and hyphens. */
  property: string
}

const LONG_RUNS = Number(process.env.FUZZ_RUNS ?? 0)
const SEED = Number(process.env.FUZZ_SEED ?? 0)
const CORPUS = join(import.meta.dir, 'corpus')

/** CPU time of the process, which includes the runs beside this one; most runs take a few milliseconds. More counts as
 *  endless work. */
const MOST_CPU_MS = 10_000

/** Parameters of `fc.assert`: `short` runs with the seed `fixed`, or long ones. `share` is the part of the long runs
 *  for this property, if several lanes run it at once. `fixed` also distinguishes lanes and properties in long runs.
 *  Throws what fc.assert throws, after the failing values were kept. */
export function runs<T>(place: Place, short: number, fixed: number, share = 1): fc.Parameters<T> {
  const report = (details: fc.RunDetails<T>) => {
    if (LONG_RUNS > 0 && details.failed && details.counterexample !== null) keep(place, details.counterexample)
    if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
  }
  return {
    ...(LONG_RUNS > 0
      ? { numRuns: Math.ceil(LONG_RUNS * share), seed: (SEED + fixed * 7919) | 0, maxSkipsPerRun: 1 }
      : { numRuns: Math.ceil(short * share), seed: fixed }),
    examples: corpusOf<T>(place),
    plugins: watched<T>(),
    reporter: report,
  }
}

/** Earlier failing values of one property. */
export function corpusOf<T>({ target, property }: Place): T[] {
  const folder = join(CORPUS, target)
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return [] // a target without a corpus yet
  }
  const own = names.filter((name) => name.replace(/-[^-]*\.json$/, '') === property).toSorted()
  return own.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'), revive) as T)
}

function keep({ target, property }: Place, values: unknown): void {
  const text = `${JSON.stringify(values, replace, 2)}\n`
  const folder = join(CORPUS, target)
  mkdirSync(folder, { recursive: true })
  const name = `${property}-${Bun.hash(text).toString(36).slice(0, 8)}.json`
  writeFileSync(join(folder, name), text)
}

/** The corpus has bytes as `{"base64": …}`, and values that JSON lacks as `{"js": …}`. */
function replace(this: unknown, key: string, value: unknown): unknown {
  const raw = (this as Record<string, unknown>)[key]
  if (raw instanceof Uint8Array) return { base64: Buffer.from(raw).toString('base64') }
  return raw === undefined || (typeof raw === 'number' && !Number.isFinite(raw)) ? { js: String(raw) } : value
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return value
  if ('base64' in value) return Buffer.from(String(value.base64), 'base64')
  return 'js' in value
    ? { undefined: undefined, NaN: Number.NaN, Infinity: 1 / 0, '-Infinity': -1 / 0 }[`${value.js}`]
    : value
}

/** Fails runs that compute too long. One that never ends is ended by the limit of its test. */
function watched<T>(): fc.Plugin<T>[] {
  let began = process.cpuUsage()
  return [
    fc.beforeEach(() => {
      began = process.cpuUsage()
    }),
    fc.afterEach(() => {
      const { user, system } = process.cpuUsage(began)
      const usedMs = (user + system) / 1000
      if (usedMs > MOST_CPU_MS) throw new Error(`one run used ${Math.round(usedMs)} ms of CPU`)
    }),
  ] as fc.Plugin<T>[]
}
