import { expect, test } from 'bun:test'
import { render, renderInTurns } from './rendered-response.ts'

const bodies: [what: string, body: object][] = [
  ['a page', { data: [{ id: 'a', text: '"\u0001é' }, { id: 'b' }], has_more: true, next_cursor: 'x' }],
  ['an empty page', { data: [], has_more: false, next_cursor: null }],
  ['a page with something behind it', { data: [{ id: 'a' }], reports: [{ b: 1 }], has_more: false, next_cursor: null }],
  ['a record', { id: 'a', data: [1, 2] }],
  ['a record that begins with data', { data: [1, 2], id: 'a' }],
]
test.each(bodies)('%s is the same JSON in turns', async (_, body) => {
  const answer = { status: 200, body }
  expect(await renderInTurns(answer)).toEqual(render(answer))
})

test('other work continues while a long list becomes JSON', async () => {
  const data = Array.from({ length: 20 }, () => ({ text: 'x'.repeat(600_000) }))
  let turns = 0
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await renderInTurns({ status: 200, body: { data, has_more: false, next_cursor: null } })
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(19)
})

test('no name is asked of bytes, which have one for each', async () => {
  const body = new Uint8Array(8)
  const asked = new Proxy(body, {
    ownKeys: () => {
      throw new Error('asked for all names')
    },
  })
  expect((await renderInTurns({ status: 200, body: asked })).body).toBe(asked)
})
