import { expect, test } from 'bun:test'
import { ResultReader } from './results.ts'

test('failed and skipped tests that Bun prints again at the end count once', () => {
  const reader = new ResultReader()
  const lines = ['a.test.ts:', '(fail) one [1.2ms]', '(skip) two', '', '1 tests skipped:', '(skip) two', '']
  for (const line of [...lines, '1 tests failed:', '(fail) one [1.2ms]', '', ' 0 pass']) reader.read(line)
  expect(reader.results).toEqual([
    { file: 'a.test.ts', name: 'one', outcome: 'failed', why: '' },
    { file: 'a.test.ts', name: 'two', outcome: 'skipped' },
  ])
})

test('a failed test has what Bun says about it, from the first error on', () => {
  const reader = new ResultReader()
  const lines = ['a.test.ts:', 'a log', '(pass) one', '2 | expect(4)', '    ^', 'error: expected 3', '', 'Received: 4']
  for (const line of [...lines, '(fail) two', '(fail) three']) reader.read(line)
  expect(reader.results.map(({ why }) => why)).toEqual([undefined, 'error: expected 3\nReceived: 4', ''])
})

test('a name of several lines is told apart by its first one', () => {
  const reader = new ResultReader()
  for (const line of ['a.test.ts:', '(pass) with {', '  a: 1,', '} passes [3s]']) reader.read(line)
  expect(reader.results).toEqual([{ file: 'a.test.ts', name: 'with {', outcome: 'passed' }])
})

test('a name may contain a line separator of Unicode', () => {
  const reader = new ResultReader()
  for (const line of ['a.test.ts:', '(pass) <a\u2028b> is refused']) reader.read(line)
  expect(reader.results).toEqual([{ file: 'a.test.ts', name: '<a\u2028b> is refused', outcome: 'passed' }])
})
