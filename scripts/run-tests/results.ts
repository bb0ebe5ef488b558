/** What `bun test` prints → the results of its tests, and the tests that have none. */

export type Outcome = 'passed' | 'failed' | 'skipped'

export interface Result {
  /** Path of the test file, as Bun prints it. */
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
const MOST_LINES = 20

/** Reads the lines of standard error of `bun test --parallel`. */
export class ResultReader {
  results: Result[] = []
  /** Test file → why the process that ran it ended before its tests did, and what it printed last. */
  readonly crashed = new Map<string, string>()
  /** Bun has printed its counts, so it has ended by itself. */
  isFinished = false
  /** When the process of one file crashes, Bun ends those of all others. */
  #aborted = new Set<string>()
  /** The file of the next results. */
  file = ''
  /** At the end, Bun prints failed and skipped tests again. */
  #isOver = false
  /** What the process of this file printed since its last result. */
  #printed: string[] = []

  /** Before the output of each run. */
  start(): void {
    this.#isOver = false
    this.isFinished = false
  }

  /** → the files that Bun ended for the crash of another one, to be run again. Forgets their results. */
  takeAborted(): string[] {
    const files = [...this.#aborted]
    this.results = this.results.filter(({ file }) => !this.#aborted.has(file))
    this.#aborted.clear()
    return files
  }

  /** → what the line is: a result, the name of the file that the next results belong to, or anything else. */
  read(line: string): Outcome | 'file' | 'crash' | null {
    this.#isOver ||= /^\d+ tests? (?:failed|skipped):$/.test(line)
    this.isFinished ||= /^Ran \d+ tests? across \d+ files?\./.test(line)
    if (this.#isOver) return null
    const file = /^(\S+\.test\.tsx?):$/.exec(line)?.[1]
    if (file !== undefined) {
      this.file = file
      this.#printed = []
      return 'file'
    }
    const [, ended, why] = /^✗ (\S+\.test\.tsx?) \((.+)\)$/.exec(line) ?? []
    if (ended !== undefined && why !== undefined) {
      if (why.startsWith('aborted')) this.#aborted.add(ended)
      else this.crashed.set(ended, [why, ...filled(this.#printed).slice(-MOST_LINES)].join('\n'))
      return 'crash'
    }
    // A name may contain U+2028.
    const [, word, name] = /^\((pass|fail|skip|todo)\) (.*)$/s.exec(line) ?? []
    const outcome = OUTCOMES[word ?? '']
    if (outcome === undefined || name === undefined) {
      this.#printed.push(line)
      return null
    }
    const result = { file: this.file, name: name.replace(DURATION, ''), outcome }
    this.results.push(outcome === 'failed' ? { ...result, why: whyOf(this.#printed) } : result)
    this.#printed = []
    return outcome
  }
}

/** → from the first error on, at most MOST_LINES, without empty ones. Empty if there is no error, as for a test that timed
 *  out. */
function whyOf(lines: readonly string[]): string {
  const first = lines.findIndex((line) => /^(?:\w*Error|error):/.test(line))
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
