import { expect, test } from 'bun:test'
import { type Alert, MOST_OPEN_OF_KIND, type Problem } from '../../model/alert.ts'
import { judge, type Look } from './judge.ts'

const MINUTE = 60_000
const START = 1_795_262_400_000

const disk: Problem = { kind: 'disk', subject: '', severity: 'warning', message: 'low', advice: null }
const rate: Problem = { ...disk, kind: 'quality', subject: 'a.example' }

/** Follows the looks at one problem, every `stepMs`: '1' = found, '0' = not found → the state after each. */
function follow(problem: Problem, looks: string, stepMs = 5 * MINUTE): string[] {
  let open: Alert[] = []
  return [...looks].map((found, at) => {
    const look: Look = {
      at: START + at * stepMs,
      node: '',
      problems: found === '1' ? [problem] : [],
      covers: ({ kind }) => kind === problem.kind,
    }
    const changes = judge(open, look, () => `alr_${at}`)
    if (changes.length === 0) return 'none'
    const [{ next }] = changes as [(typeof changes)[number]]
    open = next === null || next.state === 'resolved' ? [] : [next]
    return next === null ? 'dropped' : next.missingSince !== null && next.state === 'firing' ? 'missing' : next.state
  })
}

test('an alert begins and ends with the second look in a row', () => {
  expect(follow(disk, '111001')).toEqual(['pending', 'firing', 'firing', 'missing', 'resolved', 'pending'])
})

test('a problem that comes and goes raises nothing, and ends nothing', () => {
  expect(follow(disk, '10101')).toEqual(['pending', 'dropped', 'pending', 'dropped', 'pending'])
  expect(follow(disk, '1101011')).toEqual(['pending', 'firing', 'missing', 'firing', 'missing', 'firing', 'firing'])
})

test('two looks within a moment are one', () => {
  expect(follow(disk, '1111', MINUTE)).toEqual(['pending', 'pending', 'pending', 'pending'])
  expect(follow(disk, '11111', MINUTE).at(-1)).toBe('firing')
})

test('a quality alert, which is decided elsewhere, begins at once', () => {
  expect(follow(rate, '1000', 5 * MINUTE)).toEqual(['firing', 'missing', 'missing', 'resolved'])
})

test('a look says nothing of what it does not cover, nor of another node', () => {
  const open = judge([], { at: START, node: 'one', problems: [rate], covers: () => true }, () => 'alr_1').flatMap(
    ({ next }) => next ?? [],
  )
  const look = (node: string, covers: boolean) =>
    judge(open, { at: START + 1, node, problems: [], covers: () => covers }, () => '')
  expect(look('one', false)).toEqual([])
  expect(look('two', true)).toEqual([])
  expect(look('one', true)).toHaveLength(1)
})

// threat: alert-flood
test('at most a hundred alerts of a kind are open, and the others of them stay as they are', () => {
  const problems = Array.from({ length: 300 }, (_, at) => ({ ...rate, subject: `d${at}.example` }))
  let minted = 0
  const mint = () => `alr_${minted++}`
  const look = { at: START, node: '', problems, covers: () => true }
  const changes = judge([], look, mint)
  expect(changes).toHaveLength(MOST_OPEN_OF_KIND)
  const open = changes.flatMap(({ next }) => next ?? [])
  const again = judge(open, { ...look, at: START + MINUTE, problems: [...problems].reverse() }, mint)
  expect(again.map(({ next }) => next?.id).sort()).toEqual(open.map(({ id }) => id).sort())
})

test('texts of other servers become short and lose control characters', () => {
  const message = `bad\u202e\u0007\n${'x'.repeat(5000)}`
  const [change] = judge([], { at: START, node: '', problems: [{ ...rate, message }], covers: () => true }, () => 'a')
  expect(change?.next?.message).toHaveLength(1000)
  expect(change?.next?.message.startsWith('bad  \nxx')).toBe(true)
})
