/** What `bun test` prints → the results of its tests, and the tests that have none. */

export type Outcome = 'passed' | 'failed' | 'skipped'

export interface Result {
  /** Path of the test file, relative to the checkout. */
  file: string
  /** Its groups and its name, joined by ` > `; only the first line. */
  name: string
  outcome: Outcome
  /** Of a failed test: what Bun says about it, from its first error on. */
  why?: string
}

const OUTCOMES: Record<string, Outcome> = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' }
/** Behind a name, for a test that took a measurable time. */
const DURATION = / \[[\d.]+m?s\]$/
/** Bun then prints failed and skipped tests again. */
const REPEATS = /^\d+ tests? (?:failed|skipped):$/m
const MOST_LINES = 20

/** What `bun test` of one file printed on standard error → the results of its tests, in their order. */
export function readResults(file: string, printed: string): Result[] {
  const results: Result[] = []
  let before: string[] = []
  for (const line of printed.split(REPEATS, 1)[0]!.split('\n')) {
    // A name may contain U+2028.
    const [, word, name] = /^\((pass|fail|skip|todo)\) (.*)$/s.exec(line) ?? []
    const outcome = OUTCOMES[word ?? '']
    if (outcome === undefined || name === undefined) {
      before.push(line)
      continue
    }
    const result = { file, name: name.replace(DURATION, ''), outcome }
    results.push(outcome === 'failed' ? { ...result, why: whyOf(before) } : result)
    before = []
  }
  return results
}

/** Whether `bun test` came to its end: then it has printed its counts. */
export function isFinished(printed: string): boolean {
  return /^Ran \d+ tests? across \d+ files?\./m.test(printed)
}

/** → its last lines, at most MOST_LINES, without empty ones. */
export function lastLinesOf(printed: string): string {
  return filled(printed.split('\n')).slice(-MOST_LINES).join('\n')
}

/** → from the first error on, at most MOST_LINES, without empty ones. Empty if there is no error, as for a test that timed
 *  out. An error begins with the name of its class, or follows the caret under its code. */
function whyOf(lines: readonly string[]): string {
  const first = lines.findIndex((line, at) => /^(?:\w*Error|error):/.test(line) || /^ +\^$/.test(lines[at - 1] ?? ''))
  return filled(lines.slice(first === -1 ? lines.length : first)).slice(0, MOST_LINES).join('\n') // biome-ignore format: one step
}

const filled = (lines: readonly string[]) => lines.filter((line) => line.trim() !== '')

/** A JUnit report of Bun → the names of the tests of each file, in the form of `Result.name`. */
export function namesOf(junit: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  const groups: string[] = []
  for (const [tag, kind] of junit.matchAll(/<\/?(testsuite|testcase)\b[^>]*>/g)) {
    const attribute = (name: string) => decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
    if (tag.startsWith('</')) {
      if (kind === 'testsuite') groups.pop()
    } else if (kind === 'testsuite') {
      groups.push(attribute('name'))
    } else {
      // The outermost group is the file. A crash is reported as a test of this name.
      const [file = '', ...inner] = groups
      const name = [...inner, attribute('name')].join(' > ').split('\n', 1)[0]!
      if (attribute('name') !== '(worker crashed)') names.set(file, [...(names.get(file) ?? []), name])
    }
  }
  return names
}

/** The tests of a file that have no result. Tests may share a name. */
export function withoutResult(names: readonly string[], results: readonly Result[]): string[] {
  const left = new Map<string, number>()
  for (const { name } of results) left.set(name, (left.get(name) ?? 0) + 1)
  return names.filter((name) => {
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}

function decoded(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
