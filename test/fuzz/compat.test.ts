import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { resend } from '../../src/web/compat/resend/resend.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { runs } from './runs.ts'

/** Any request to the compatible API gets a response in its format, and never a 5xx. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const text = fc.oneof(
  fc.constantFrom(
    'a@x.example',
    `Shop <shop@${DOMAIN}>`,
    'in 1 min',
    'tomorrow at 9am',
    'email.bounced',
    'enabled',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(text, { maxLength: 3 }),
  fc.array(fc.dictionary(fc.constantFrom('name', 'value', 'content', 'filename', 'path', 'type', 'data'), text), {
    maxLength: 3,
  }),
)
const NAMES = ['from', 'to', 'cc', 'reply_to', 'subject', 'html', 'text', 'headers', 'tags', 'attachments', 'template']
NAMES.push(
  'scheduled_at',
  'topic_id',
  'name',
  'region',
  'tracking_subdomain',
  'open_tracking',
  'capabilities',
  'endpoint',
)
NAMES.push('events', 'status', 'permission', 'domain_id', 'email', 'emails', 'ids', 'id', 'webhook_id', '__proto__')
const fields = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 7 })
const good = { from: `shop@${DOMAIN}`, to: 'a@x.example', subject: 'Hi', text: 'Hi' }
const body = fc.oneof(
  fields,
  fields.map((given) => ({ ...good, ...given })),
  fc.array(
    fields.map((given) => ({ ...good, ...given })),
    { maxLength: 3 },
  ),
  fc.jsonValue(),
)
const id = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), fc.constant(`msg_${'0'.repeat(26)}`))

// threat: compatible-api-permissions
test('any request gets an answer in the format of that service', async () => {
  const endpoint = fc.constantFrom(...resend.endpoints.filter((each) => each.id !== 'api_keys_remove'))
  const query = fc.dictionary(fc.constantFrom('limit', 'after', 'before', 'origin'), fc.oneof(text, fc.constant('5')), {
    maxKeys: 2,
  })
  const run = fc.asyncProperty(endpoint, id, body, query, async ({ method, path }, name, given, asked) => {
    const at = path.replace(/:\w+/, encodeURIComponent(name.toWellFormed()))
    const search = method === 'GET' ? `?${new URLSearchParams(asked)}` : ''
    const { status, body: answer } = await server.ask(
      method,
      `/compat/resend${at}${search}`,
      method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(given),
      { authorization: `Bearer ${server.keys.test}` },
    )
    expect(status).toBeLessThan(500)
    if (status === 200) expect(answer).toBeObject()
    else expect(answer).toEqual({ statusCode: status, name: expect.any(String), message: expect.stringMatching(/./) })
  })
  await fc.assert(run, runs({ target: 'compat', property: 'any-request' }, 400, 73))
})
