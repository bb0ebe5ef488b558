/** Makes small mutations in src, one after another, and runs the tests that can reach each.
 *
 *    bun scripts/mutate.ts --seed 7 --count 100 [--only src/mail] [--tests 40]
 *
 *  Works in a copy of the checkout. Prints one line for each mutation with its place: killed (by the types or by
 *  which tests) or SURVIVED. A survivor is a hole in the tests, or changes no behaviour: check each. `--tests` is
 *  the maximum number of test files in a run, the nearest by imports first. Requires dist for the tests that run the
 *  program. Exit code 0. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutation, mutationsOf } from './mutate/mutations.ts'
import { testReach } from './mutate/reach.ts'

const ROOT = join(import.meta.dir, '..')
const SHARED = ['node_modules', '.bun', '.git', 'dist']
/** Generated files, and files that only browsers run. */
const LEFT_OUT =
  /\.test\.tsx?$|\.d\.ts$|^src\/client\/(?:types|routes)\.ts$|^src\/analysis\/client-data\.ts$|^src\/dashboard\/ui\//
/** Test files in one run of Bun, in the first run and in later ones: the nearest ones find most mutations. */
const FIRST_BATCH = 3
const BATCH = 8
const BATCH_LIMIT_MS = 240_000

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    only: { type: 'string', default: 'src' },
    tests: { type: 'string', default: '40' },
  },
})

const copy = mkdtempSync(join(tmpdir(), 'postrider-mutate-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
for (const name of readdirSync(ROOT)) {
  if (SHARED.includes(name)) symlinkSync(join(ROOT, name), join(copy, name))
  else cpSync(join(ROOT, name), join(copy, name), { recursive: true })
}

const testsOf = testReach(copy)
const sources = [...new Bun.Glob(`${options.only}/**/*.{ts,tsx}`).scanSync(copy)].filter((file) => !LEFT_OUT.test(file))
const all = sources.sort().flatMap((file) => mutationsOf(file, readFileSync(join(copy, file), 'utf8')))
const sample = sampleOf(all, Number(options.count), Number(options.seed))
console.log(`${sample.length} of ${all.length} mutations, seed ${options.seed}`)

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
    if (!(await passes('x', 'tsc', '--noEmit'))) return 'types'
    const tests = testsOf(file).slice(0, Number(options.tests))
    for (let at = 0, size = FIRST_BATCH; at < tests.length; at += size, size = BATCH) {
      const batch = tests.slice(at, at + size)
      if (!(await passes('test', '--bail', '--timeout=30000', ...batch.map((test) => `./${test}`)))) {
        return `test ${at + 1} to ${at + batch.length} of ${tests.length}, from ${batch[0]}`
      }
    }
    return null
  } finally {
    writeFileSync(path, source)
  }
}

async function passes(...args: string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: copy,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: BATCH_LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  return (await child.exited) === 0
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
