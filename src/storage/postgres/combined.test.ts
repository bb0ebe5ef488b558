import { expect, test } from 'bun:test'
import { collectWrites, createCombiner } from './combined.ts'

test('the parameters of a later statement follow those of the ones before it', () => {
  const combine = createCombiner('select 1 / count(*) from first')
  const one = { text: 'insert into a values ($1, $2)', values: [1, 2] }
  const ten = { text: 'insert into b values ($1, $10)', values: ['a', 'b'] }
  expect(combine([one, ten, one])).toEqual({
    text: `with first as (insert into a values ($1, $2)),
part1 as (insert into b values ($3, $12)),
part2 as (insert into a values ($5, $6))
select 1 / count(*) from first`,
    values: [1, 2, 'a', 'b', 1, 2],
  })
})

test('the same statements are the same text, so that PostgreSQL prepares it once', () => {
  const combine = createCombiner('select')
  const writes = (value: number) => [{ text: 'insert into a values ($1)', values: [value] }]
  expect(combine(writes(1))?.text).toBe(combine(writes(2))?.text ?? '')
})

test('after 64 combinations a new one is refused, and the known ones are not', () => {
  const combine = createCombiner('select')
  const nth = (n: number) => [{ text: `insert into a${n} default values`, values: [] }]
  for (let n = 0; n < 64; n++) expect(combine(nth(n))).not.toBeNull()
  expect(combine(nth(64))).toBeNull()
  expect(combine(nth(0))).not.toBeNull()
})

test('collected writes are those that ran, in their order', async () => {
  const { statements, writes } = collectWrites(7)
  expect(statements.laneId).toBe(7)
  expect(await statements.run('insert into a values ($1)', [1])).toBe(0)
  expect(await statements.run('insert into b default values')).toBe(0)
  expect(writes).toEqual([
    { text: 'insert into a values ($1)', values: [1] },
    { text: 'insert into b default values', values: [] },
  ])
})
