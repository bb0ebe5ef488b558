import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

/** Names and labels: invisible characters could make one look like another in lists, logs and terminals. */

let made: TestApi
beforeAll(async () => {
  made = await createTestApi()
})
afterAll(() => made.close())

const HIDDEN = [
  '\x07',
  '\x85',
  '\x9b31m',
  '\u061c',
  '\u200b',
  '\u200e',
  '\u202e',
  '\u2066',
  '\u2028',
  '\ufeff',
  '\u{e0041}',
]

// threat: bidirectional-name
test('a name with a control, bidirectional or invisible character gets 400 with its field, whatever it names', async () => {
  const { id } = made.own.domain
  const webhook = { url: 'https://hooks.customer.example/x', events: ['message.delivered'] }
  const route = { match: { type: 'catch_all' }, action: { type: 'store' } }
  const cookie = { ...(await made.signIn()), 'x-operator': '1' }
  const CASES: [path: string, field: string, body: object, headers?: Record<string, string>][] = [
    ['/v1/api-keys', 'name', { domain_id: id, permissions: ['send'] }],
    ['/v1/templates', 'name', { alias: 'a', subject: 's', html: '<p>x</p>' }],
    ['/v1/webhooks', 'description', webhook],
    ['/v1/inbound-routes', 'name', route],
    ['/v1/organizations', 'name', { plan: 'free' }, cookie],
  ]
  for (const [path, field, body, headers] of CASES) {
    for (const hidden of HIDDEN) {
      const key = headers === undefined ? made.own.keys.admin : null
      const answer = await made.ask('POST', path, { key, headers, body: { ...body, [field]: `a${hidden}b` } })
      expect([path, hidden, answer.status, answer.body.error?.field]).toEqual([path, hidden, 400, field])
    }
    const key = headers === undefined ? made.own.keys.admin : null
    const fine = await made.ask('POST', path, { key, headers, body: { ...body, [field]: 'می‌خواهم 👩‍👩‍👧 Zoë' } })
    expect([path, fine.status]).toEqual([path, 201])
  }
})

test('an older record with such a name is still listed and used', async () => {
  const key = await made.addKey(made.own, { name: 'old\u202eeman\x9b', permissions: ['manage'] })
  const { status, body } = await made.ask('GET', '/v1/api-keys', { key })
  expect(status).toBe(200)
  expect(body.data.map(({ name }: { name: string }) => name)).toContain('old\u202eeman\x9b')
})
