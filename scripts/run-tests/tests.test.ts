import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from '../../test/support/daemon.ts'
import { until } from '../../test/support/patience.ts'
import { runTests, type TestRun } from './tests.ts'

/** Runs test files → what scripts/test would count. */
async function runFiles(files: Record<string, string>, limits: { runLimitMs?: number } = {}): Promise<TestRun> {
  const root = mkdtempSync(join(tmpdir(), 'postrider-run-tests-'))
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(root, `${name}.test.ts`), `import { beforeAll, describe, test } from 'bun:test'\n${text}`)
  }
  const paths = Object.keys(files).map((name) => `${name}.test.ts`)
  const env = Object.fromEntries(Object.entries(process.env).flatMap(([key, value]) => (value ? [[key, value]] : [])))
  try {
    const own = { root, out: root, paths, env, print: () => {} }
    return await runTests({ ...own, testLimitMs: 2_000, runLimitMs: 240_000, ...limits })
  } finally {
    rmSync(root, { recursive: true })
  }
}

const PASSES = `test('passes', () => {})`
const passed = (file: string, name = 'passes') => ({ file: `${file}.test.ts`, name, outcome: 'passed' as const })
const names = (run: TestRun) => run.notRun.map(({ file, name }) => `${file}: ${name}`)
const failures = (run: TestRun) => run.results.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)

test('counts passed, failed and skipped tests, with the names of their groups', async () => {
  const run = await runFiles({
    a: `describe('a group', () => { ${PASSES}; test('fails', () => { throw new Error('no') }) })
        test.skip('is skipped', () => {})`,
  })
  expect(run).toEqual({
    results: [
      passed('a', 'a group > passes'),
      { file: 'a.test.ts', name: 'a group > fails', outcome: 'failed', why: expect.stringMatching(/^error: no$/m) },
      { file: 'a.test.ts', name: 'is skipped', outcome: 'skipped' },
    ],
    notRun: [],
    crashes: [],
    otherFailures: [],
  })
})

test.each([
  ['is killed', `process.kill(process.pid, 'SIGKILL')`],
  ['makes Bun crash', `process.kill(process.pid, 'SIGSEGV')`],
  ['exits with code 0', 'process.exit(0)'],
  ['never returns to the event loop', 'for (;;);'],
])('a test that %s loses the tests of its file only, which are not run', async (_, fault) => {
  const run = await runFiles({
    a: `${PASSES}; test('has the fault', () => { ${fault} }); test('comes later', () => {})`,
    b: PASSES,
    c: PASSES,
  })
  expect(run.results.filter(({ file }) => file !== 'a.test.ts')).toEqual(
    expect.arrayContaining([passed('b'), passed('c')]),
  )
  expect(failures(run)).toEqual([])
  expect(run.crashes).toEqual([expect.stringMatching(/^a\.test\.ts: ended (?:by|with exit code) /)])
  expect(names(run)).toContain('a.test.ts: has the fault')
  expect(names(run)).toContain('a.test.ts: comes later')
})

test('a test that times out fails alone', async () => {
  const run = await runFiles({ a: `test('hangs', () => new Promise(() => {})); ${PASSES}` })
  expect(failures(run)).toEqual(['hangs'])
  expect(run.results).toContainEqual(passed('a'))
  expect(run.notRun).toEqual([])
})

test('tests whose preparation fails are not run', async () => {
  const run = await runFiles({
    a: `describe('a group', () => { beforeAll(() => { throw new Error('no') }); test('one', () => {}); test('two', () => {}) })
        ${PASSES}`,
  })
  expect(run.results).toContainEqual(passed('a'))
  expect(names(run)).toEqual(['a.test.ts: a group > one', 'a.test.ts: a group > two'])
})

test('a file that cannot be loaded is a failure', async () => {
  const run = await runFiles({ a: `${PASSES}; throw new Error('no')`, b: PASSES })
  expect(run).toEqual({
    results: [passed('b')],
    notRun: [],
    crashes: [],
    otherFailures: ['a.test.ts: cannot be loaded'],
  })
})

test('tests that the end of the run prevents are not run, and nothing that they started continues', async () => {
  const started = join(tmpdir(), `postrider-run-tests-${process.pid}`)
  const child = `const { pid } = Bun.spawn(['sleep', '1000']); require('fs').writeFileSync('${started}', String(pid))`
  const waits = `test('waits', async () => { ${child}; await new Promise(() => {}) }, 1_000_000); ${PASSES}`
  const run = await runFiles({ a: waits }, { runLimitMs: 3_000 })
  expect(names(run)).toEqual(['a.test.ts: waits', 'a.test.ts: passes'])
  const pid = Number(await Bun.file(started).text())
  await until('the process of the test to end', () => !isRunning(pid))
  rmSync(started)
})
