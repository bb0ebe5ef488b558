/** Checks that every regular expression of src, and of the packages that read text of strangers, takes linear time
 *  (recheck). Prints each violation as file:line; exit code 1 with violations.
 *
 *    bun scripts/check-patterns.ts            judges the patterns that verdicts.json lacks
 *    bun scripts/check-patterns.ts --renew    the same, and writes verdicts.json: commit it
 *    bun scripts/check-patterns.ts --all      judges all again (some minutes), and writes it
 *
 *  A pattern that is not linear requires a line in patterns/unproven.ts with the bound of its text and a test for
 *  the bound. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { LOOPS, offencesOf } from './patterns/exceptions.ts'
import { judge, keyOf, type Verdict } from './patterns/judge.ts'
import { loopOffences } from './patterns/loops.ts'
import { type FoundPattern, ownPatterns, packagePatterns } from './patterns/sources.ts'
import { EXCEPTIONS } from './patterns/unproven.ts'

const VERDICTS = join(import.meta.dir, 'patterns/verdicts.json')
/** recheck starts separate processes. */
const AT_ONCE = 2
const SLOW_SECONDS = 20

const { values } = parseArgs({
  options: { renew: { type: 'boolean', default: false }, all: { type: 'boolean', default: false } },
})

const own = ownPatterns()
const packages = await packagePatterns()
const patterns = [...own.patterns, ...packages.patterns]
const verdicts = await verdictsOf(patterns)
if (values.renew || values.all) write(verdicts)

const offences = [
  ...own.faults,
  ...packages.faults,
  ...offencesOf(patterns, verdicts, EXCEPTIONS),
  ...loopOffences(LOOPS),
]
for (const offence of offences) console.log(offence)
console.log(`patterns: ${verdicts.size} judged, ${EXCEPTIONS.length} exceptions, ${offences.length} offences`)
// recheck leaves its process running, which would keep this one alive.
process.exit(offences.length === 0 ? 0 : 1)

/** Patterns → verdict by key: stored ones, and those of new patterns. */
async function verdictsOf(all: readonly FoundPattern[]): Promise<Map<string, Verdict>> {
  const kept = values.all ? {} : (JSON.parse(readFileSync(VERDICTS, 'utf8')) as Record<string, Verdict>)
  const found = new Map<string, Verdict>()
  const waiting = new Map<string, FoundPattern>()
  for (const pattern of all) {
    const key = keyOf(pattern)
    const known = kept[key]
    if (known !== undefined) found.set(key, known)
    else waiting.set(key, pattern)
  }
  if (waiting.size > 0) console.log(`patterns: ${waiting.size} are new; store their verdicts with --renew`)
  const queue = waiting.entries()
  const work = async () => {
    for (const [key, pattern] of queue) {
      const startedAt = performance.now()
      found.set(key, await judge(pattern))
      const seconds = (performance.now() - startedAt) / 1000
      if (seconds > SLOW_SECONDS) console.log(`patterns: ${seconds.toFixed(0)} s for ${key}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

function write(all: ReadonlyMap<string, Verdict>): void {
  const sorted = [...all].toSorted(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(VERDICTS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}
