import { expect, test } from 'bun:test'
import { readResults } from './results.ts'

const read = (...lines: string[]) => readResults('a.test.ts', lines.join('\n'))

test('failed and skipped tests that Bun prints again at the end count once', () => {
  const repeated = ['1 tests skipped:', '(skip) two', '', '1 tests failed:', '(fail) one [1.2ms]', '', ' 0 pass']
  expect(read('a.test.ts:', '(fail) one [1.2ms]', '(skip) two', '', ...repeated)).toEqual([
    { file: 'a.test.ts', name: 'one', outcome: 'failed', why: '' },
    { file: 'a.test.ts', name: 'two', outcome: 'skipped' },
  ])
})

test('a failed test has what Bun says about it, from the first error on', () => {
  const results = read(
    ...['a.test.ts:', 'a log', '(pass) one', '2 | expect(4)', '    ^', 'error: expected 3', '', 'Received: 4'],
    ...[
      '(fail) two',
      '(fail) three',
      '2 | throw new Refused()',
      '    ^',
      'Refused: no',
      ' isFull: false,',
      '(fail) four',
    ],
  )
  expect(results.map(({ why }) => why)).toEqual([
    undefined,
    'error: expected 3\nReceived: 4',
    '',
    'Refused: no\n isFull: false,',
  ])
})

test('a name of several lines is told apart by its first one', () => {
  const results = read('a.test.ts:', '(pass) with {', '  a: 1,', '} passes [3s]')
  expect(results).toEqual([{ file: 'a.test.ts', name: 'with {', outcome: 'passed' }])
})

test('a name may contain a line separator of Unicode', () => {
  const results = read('a.test.ts:', '(pass) <a\u2028b> is refused')
  expect(results).toEqual([{ file: 'a.test.ts', name: '<a\u2028b> is refused', outcome: 'passed' }])
})
