import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ContractServer, startContractServer } from '../api/contract-server.ts'

/** Another organization's ids outside the path: query parameters and body fields. test/api/permissions.test.ts
 *  covers ids in paths. */

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

let setup: ContractServer
let ids: Record<string, string>
const ask = async (key: string, method: string, path: string, body?: unknown) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? null : JSON.stringify(body)
  const response = await fetch(`${setup.origin}${path}`, { method, headers, body: sent })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Json }
}

beforeAll(async () => {
  setup = await startContractServer()
  const { live, test: sandbox } = setup.keys
  const made = async (path: string, body: unknown, key = live) => (await ask(key, 'POST', path, body)).body.id
  const mail = { from: 'a@example.com', to: 'elsewhere@customer.example', subject: 'elsewhere', text: 'elsewhere' }
  const template_id = await made('/v1/templates', { name: 'elsewhere', subject: 'elsewhere', text: 'elsewhere' })
  const message_id = await made('/v1/send', mail, sandbox)
  const route = { name: 'elsewhere', match: { type: 'catch_all' }, action: { type: 'store' } }
  const events = (await ask(live, 'GET', '/v1/events')).body.data
  ids = {
    template_id,
    message_id,
    domain_id: setup.domain.id,
    route_id: await made('/v1/inbound-routes', route),
    resource_id: template_id,
    actor_id: (await ask(live, 'GET', '/v1/audit-log')).body.data[0].actor.id,
    after: events[0].id,
  }
})
afterAll(() => setup.close())

/** Once a minute: the plan of `poor`. */
const asStranger = async (method: string, path: string, body?: unknown) => {
  await setup.clock.advance(61_000)
  return ask(setup.keys.poor, method, path, body)
}

// threat: foreign-resources
test('no parameter of a query shows anything of another organization', async () => {
  const document: Json = await (await fetch(`${setup.origin}/openapi.json`)).json()
  const asked: string[] = []
  const wrong: string[] = []
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    if (path.includes('{')) continue
    for (const parameter of methods.get?.parameters ?? []) {
      const { in: place, name } = parameter.$ref ? resolve(document, parameter.$ref) : parameter
      if (place !== 'query' || !/_id$|^after$/.test(name)) continue
      const id = ids[name]
      if (id === undefined) throw new Error(`${path}?${name}: no such id is prepared here`)
      asked.push(`${path}?${name}`)
      const required = path === '/v1/explain' ? '&to=ann@customer.example' : ''
      const { status, text, body } = await asStranger('GET', `${path}?${name}=${id}${required}`)
      const isEmpty = status === 200 && (body.data?.length === 0 || !text.includes('elsewhere'))
      if (!isEmpty && ![403, 404].includes(status)) wrong.push(`${path}?${name}: ${status}`)
      if (text.includes('elsewhere')) wrong.push(`${path}?${name} tells`)
    }
  }
  expect(wrong).toEqual([])
  expect(asked.length).toBeGreaterThan(6)
})

const mail = { from: 'a@poor.example', to: 'ann@customer.example' }
const BODIES: [path: string, body: (theirs: Record<string, string>) => object][] = [
  ['/v1/api-keys', ({ domain_id }) => ({ name: 'k', domain_id, permissions: ['send'] })],
  ['/v1/suppressions', ({ domain_id }) => ({ email: 'a@b.example', domain_id })],
  ['/v1/messages/send', ({ template_id }) => ({ ...mail, template_id })],
  ['/v1/messages/analyze', ({ template_id }) => ({ ...mail, template_id })],
  ['/v1/messages/send', () => ({ ...mail, from: 'a@example.com', subject: 'x', text: 'x' })],
  [
    '/v1/inbound-routes',
    () => ({ name: 'r', match: { type: 'address', value: 'a@example.com' }, action: { type: 'store' } }),
  ],
]

// threat: foreign-resources
test.each(BODIES)('%s with a resource of another organization gets 403', async (path, body) => {
  const { status, text } = await asStranger('POST', path, body(ids))
  expect([status, text.includes('elsewhere')]).toEqual([403, false])
})

test('a domain of another organization is a conflict, without a word about its owner', async () => {
  const mine = await ask(setup.keys.live, 'POST', '/v1/domains', { name: 'example.com' })
  const theirs = await asStranger('POST', '/v1/domains', { name: 'example.com' })
  const reported = ({ body }: { body: Json }) => [body.error.code, body.error.message, body.error.field]
  expect([theirs.status, reported(theirs)]).toEqual([409, reported(mine)])
})

function resolve(document: Json, ref: string): Json {
  return ref
    .slice(2)
    .split('/')
    .reduce((at, name) => at[name], document)
}
