import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTests } from './test-count.ts'

/** Runs real test files, as run-tests.ts does. */
function countOf(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-count-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const report = join(folder, 'junit.xml')
    const { exitCode, stderr } = Bun.spawnSync(
      [process.execPath, 'test', '--reporter=junit', `--reporter-outfile=${report}`],
      { cwd: folder, env: { PATH: process.env.PATH, CI: 'true' } },
    )
    return countTests({ code: exitCode, error: stderr.toString(), junit: textOf(report) })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const GOOD =
  "import { test } from 'bun:test'\ntest('one', () => {})\ntest('two', () => {})\ntest.skip('three', () => {})"
const BAD = "import { test } from 'bun:test'\ntest('bad', () => { throw new Error('bad') })"

describe('the count of a test run', () => {
  test('leaves skipped tests out', () => {
    expect(countOf({ 'a.test.ts': GOOD })).toEqual({ count: { passed: 2, failed: 0 }, doubts: [] })
  })

  test('has passed and failed ones', () => {
    expect(countOf({ 'a.test.ts': GOOD, 'b.test.ts': BAD }).count).toEqual({ passed: 2, failed: 1 })
  })

  test('fails when a file ends the process with code 0 while it is loaded', () => {
    const { count } = countOf({ 'a.test.ts': GOOD, 'b.test.ts': 'process.exit(0)' })
    expect(count).toEqual({ passed: 0, failed: 1 })
  })

  test('fails when a file throws while it is loaded', () => {
    expect(countOf({ 'a.test.ts': GOOD, 'b.test.ts': "throw new Error('no')" }).count.failed).toBeGreaterThan(0)
  })

  test('fails when a test.only was left behind', () => {
    const only = GOOD.replace("test('one'", "test.only('one'")
    expect(countOf({ 'a.test.ts': only }).count.failed).toBeGreaterThan(0)
  })

  test('fails when there is no test', () => {
    expect(countOf({ 'readme.txt': '' }).count.failed).toBe(1)
    expect(countOf({ 'a.test.ts': '' }).count.failed).toBe(1)
  })

  test('fails when the report and the closing line differ', () => {
    const junit = '<testsuites name="bun test" tests="2" assertions="0" failures="0" skipped="0" time="0.1">'
    const { count } = countTests({ code: 0, error: 'Ran 3 tests across 1 file. [1ms]', junit })
    expect(count).toEqual({ passed: 2, failed: 1 })
  })
})
