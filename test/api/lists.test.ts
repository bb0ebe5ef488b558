import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let api: TestApi
let operator: Record<string, string>
beforeAll(async () => {
  api = await createTestApi()
  operator = { ...(await api.signIn()), 'x-operator': '1' }
})
afterAll(() => api.close())

const match = { type: 'catch_all' }
const action = { type: 'store' }
/** Path of a list → the body that creates its nth record. */
const LISTS: [string, (n: number) => object][] = [
  ['/v1/domains', (n) => ({ name: `d${n}.example` })],
  ['/v1/api-keys', (n) => ({ name: `${n}`, domain_id: api.own.domain.id, permissions: ['send'] })],
  ['/v1/webhooks', (n) => ({ url: `https://hooks.example/${n}`, events: ['message.opened'] })],
  ['/v1/templates', (n) => ({ name: `${n}`, subject: 's', text: 't' })],
  ['/v1/inbound-routes', (n) => ({ name: `${n}`, match, action, priority: n })],
  ['/v1/suppressions', (n) => ({ email: `${n}@there.example` })],
  ['/v1/organizations', (n) => ({ name: `org ${n}`, plan: 'free' })],
]

test.each(LISTS)('%s is filtered by time, from inclusive, to exclusive, in pages', async (path, bodyOf) => {
  const asks = path === '/v1/organizations' ? { key: null, headers: operator } : { key: api.own.keys.admin }
  const ids: string[] = []
  const at: string[] = []
  for (let n = 0; n < 4; n++) {
    await api.clock.advance(1_000)
    at.push(new Date(api.clock.now()).toISOString())
    ids.push((await api.ask('POST', path, { ...asks, body: bodyOf(n) })).body.id)
  }
  const list = async (query: string) => (await api.ask('GET', `${path}?${query}`, asks)).body
  const idsOf = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id)

  expect(await idsOf(`created_after=${at[1]}`)).toEqual([ids[3], ids[2], ids[1]])
  expect(await idsOf(`created_after=${at[0]}&created_before=${at[2]}`)).toEqual([ids[1], ids[0]])
  expect(await idsOf(`created_before=${new Date(START - 1).toISOString()}`)).not.toContain(ids[0])
  const first = await list(`created_after=${at[1]}&limit=2`)
  expect(first).toMatchObject({ has_more: true, data: [{ id: ids[3] }, { id: ids[2] }] })
  const rest = await list(`created_after=${at[1]}&limit=2&cursor=${first.next_cursor}`)
  expect(rest).toMatchObject({ has_more: false, next_cursor: null, data: [{ id: ids[1] }] })
})

test('the sessions of the operator are filtered by time too', async () => {
  const asks = { key: null, headers: operator }
  const after = new Date(api.clock.now() + 1).toISOString()
  expect((await api.ask('GET', `/v1/sessions?created_after=${after}`, asks)).body.data).toEqual([])
  expect((await api.ask('GET', `/v1/sessions?created_before=${after}`, asks)).body.data).toHaveLength(1)
})
