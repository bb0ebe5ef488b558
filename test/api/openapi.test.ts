import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PERMISSIONS } from '../../src/model/api-key.ts'
import { EVENT_TYPES, iso } from '../../src/model/event.ts'
import { sampleData } from '../../src/model/event-samples.ts'
import goldenInbound from '../golden/inbound-received.json' with { type: 'json' }
import { type Documented, readDocument, resolve } from '../support/documented.ts'
import { textOf } from '../support/event-stream.ts'
import { createRecords, type Ids, mail, type Records } from './contract-records.ts'
import { BODY_BYTES, type ContractServer, startContractServer } from './contract-server.ts'

/** Checks the document against its server: calls every operation with the documented examples and validates every
 *  response against its schema. */

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

let setup: ContractServer
let records: Records
let document: Json
let read: ReturnType<typeof readDocument>
/** `messages_send 202 application/json`, `messages_send 400 validation_error` */
const reached = new Set<string>()
const faults: string[] = []

/** Headers of the operator's session. */
let operator: Record<string, string>

beforeAll(async () => {
  setup = await startContractServer()
  operator = await setup.signIn()
  records = createRecords(setup, async (method, path, body, key) => {
    const answered = await ask(method, path, { body, key })
    if (answered.status > 299) throw new Error(`${method} ${path}: ${answered.status} ${answered.text}`)
    return answered.body
  })
  document = await (await fetch(`${setup.origin}/openapi.json`)).json()
  read = readDocument(document)
})
afterAll(() => setup.close())

/** Time limit of a test that calls every operation. */
const _LIMIT_MS = 60_000

interface Ask {
  body?: unknown
  /** Null = none, `operator` = the operator's session. */
  key?: string | null
  headers?: Record<string, string>
}

/** Sends a request over the socket and validates the response against the document. */
async function ask(method: string, path: string, { body, key = setup.keys.live, headers = {} }: Ask = {}) {
  const request = {
    method,
    headers: {
      ...(key === 'operator' ? operator : key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  }
  const response = await fetch(`${setup.origin}${path}`, request)
  const text = await textOf(response)
  const answered = { status: response.status, headers: response.headers, text }
  const fault = read.faultIn(method, path, answered)
  if (fault !== null) faults.push(`${method} ${path}: ${fault}`)
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const json: Json = isJson ? JSON.parse(text) : null
  return { ...answered, body: json }
}

/** Calls an operation of the document and records which response it reached. */
async function askFor(documented: Documented, ids: Ids, asked: Ask & { query?: string } = {}) {
  const { id, method, path } = documented
  const options = { key: forOperator(documented) ? 'operator' : setup.keys.live, ...asked }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none')
  const answered = await ask(method, `${filled}${options.query ?? ''}`, options)
  const kind = answered.body?.error?.code ?? answered.headers.get('content-type')?.split(';')[0]
  reached.add(`${id} ${answered.status} ${kind}`)
  return answered
}

const forOperator = ({ operation }: Documented) => operation['x-permission'] === 'operator'
const operationOf = (id: string) => read.operations.find((each) => each.id === id)!
const EVENT_ID = 'evt_01m7ykx6js1zy8zpzy8z8cwhzy'
/** Operation ID → request, for operations without a documented example. */
const ASKED: Record<string, Ask & { query?: string }> = {
  explain_address: { query: '?to=ann@customer.example' },
}
/** Operation ID → further requests, for documented responses that the first request does not return. */
const FURTHER: Record<string, () => (Ask & { query?: string })[]> = {
  messages_send: () => [{ headers: { prefer: 'wait=1' }, key: setup.keys.test }],
  messages_send_alias: () => [{ headers: { prefer: 'wait=1' }, key: setup.keys.test }],
  messages_content: () => ['html', 'text', 'raw'].map((part) => ({ query: `?part=${part}` })),
}

describe('the document', () => {
  test('is OpenAPI 3.1, and every reference in it resolves', () => {
    expect(document.openapi).toBe('3.1.1')
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, found]) => found!)
    expect(references.length).toBeGreaterThan(100)
    for (const reference of new Set(references)) resolve(document, reference)
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !references.includes(`#/components/schemas/${name}`),
    )
    expect(unused).toEqual([])
  })

  test('has every operation of the server by its path, and no other', () => {
    const inDocument = read.operations.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
    expect(inDocument.toSorted()).toEqual(setup.operations.map(({ method, path }) => `${method} ${path}`).toSorted())
    expect(new Set(read.operations.map(({ id }) => id)).size).toBe(read.operations.length)
  })

  test('names for each operation its permission, its parameters and at least one success', async () => {
    const poor: string[] = []
    for (const { id, responses } of setup.operations) if (!(await responses?.())?.length) poor.push(id)
    expect(poor).toEqual([]) // add `responses` to the operation: src/web/api/responses
    const tags = document.tags.map(({ name }: Json) => name)
    for (const { path, operation } of read.operations) {
      expect([...PERMISSIONS, 'any', 'operator']).toContain(operation['x-permission'])
      expect(operation.description).toContain(`\`${operation['x-permission']}\``)
      expect(tags).toContain(operation.tags[0])
      expect(operation.tags[0]).toMatch(/^[A-Z]/) // else its path has no entry in openapi/tags.ts
      const inPath = operation.parameters.filter((each: Json) => each.in === 'path').map(({ name }: Json) => name)
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  test('has examples that match their schemas', () => {
    const wrong: string[] = []
    const look = (at: string, content: Json) => {
      for (const [type, { schema, example }] of Object.entries<Json>(content)) {
        if (example === undefined) continue
        const fault = read.faultBy(schema, example)
        if (fault !== null) wrong.push(`${at} ${type}: ${fault}`)
      }
    }
    for (const { id, operation } of read.operations) {
      if (operation.requestBody !== undefined) look(`${id} body`, operation.requestBody.content)
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        look(`${id} ${status}`, read.deref(response).content)
      }
    }
    for (const [name, { post }] of Object.entries<Json>(document.webhooks)) look(name, post.requestBody.content)
    for (const { at, value } of inside(document)) {
      const { schema, example } = value
      if (schema === undefined || example === undefined || value.content !== undefined) continue
      const fault = read.faultBy(read.deref(schema), example)
      if (fault !== null) wrong.push(`${at}: ${fault}`)
    }
    expect(wrong).toEqual([])
  })

  // Linters of OpenAPI, such as `redocly lint --extends recommended-strict`, refuse both.
  test('has no empty schema among alternatives, and no example in a format that its schema forbids', () => {
    const places = [...inside(document)]
    const choices = places.flatMap(({ at, value }) =>
      ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (Array.isArray(value[key]) ? [{ at, schemas: value[key] }] : [])),
    )
    expect(choices.length).toBeGreaterThan(20)
    const isEmpty = (schema: Json) => Object.keys(schema).length === 0
    expect(choices.filter(({ schemas }) => schemas.some(isEmpty)).map(({ at }) => at)).toEqual([])
    const times = places.filter(({ value }) => value.example !== undefined && isTime(value.schema))
    expect(times.length).toBeGreaterThan(1)
    expect(times.filter(({ value }) => !RFC_3339.test(value.example)).map(({ at }) => at)).toEqual([])
  })

  test('has a webhook for each kind of event and for inbound mail', () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES, 'inbound'])
    const at = Date.UTC(2026, 10, 21)
    const events = EVENT_TYPES.map((type) => ({ type, id: EVENT_ID, timestamp: iso(at), data: sampleData(type, at) }))
    for (const posted of [...events, goldenInbound.plain, goldenInbound.with_attachments]) {
      expect(read.faultInPosted(JSON.stringify(posted))).toBeNull()
      expect(read.faultInPosted(JSON.stringify({ ...posted, more: 1 }))).not.toBeNull()
    }
  })

  test('requires the fields of a body that zod requires, and allows no others', () => {
    const { schema } = operationOf('messages_send').operation.requestBody.content['application/json']
    expect(read.faultBy(schema, mail())).toBeNull()
    expect(read.faultBy(schema, { ...mail(), form: 'x' })).not.toBeNull()
    expect(read.faultBy(schema, { from: 'a@example.com' })).not.toBeNull()
  })
})

describe('every operation', () => {
  test('accepts the example of the document and answers as documented', async () => {
    const wrong: string[] = []
    await records.all() // for lists
    for (const documented of read.operations) {
      const { id, path, operation } = documented
      const ids = { ...(await records.of(path)), ...(await records.prepare(id)) }
      const example = operation.requestBody?.content['application/json'].example
      for (const options of [ASKED[id] ?? {}, ...(FURTHER[id]?.() ?? [])]) {
        const usual = id === 'messages_resend' ? setup.keys.test : setup.keys.live
        const key = options.key ?? (forOperator(documented) ? 'operator' : usual)
        const { status, text } = await askFor(documented, ids, {
          body: records.withRealIds(example),
          ...options,
          key,
        })
        if (status > 299) wrong.push(`${id}: ${status} ${text}`)
      }
    }
    expect(wrong).toEqual([])
    expect(faults).toEqual([])
  })

  // threat: actions-without-audit
  test('that changes something adds an entry to the audit log; the others state why not', async () => {
    const audited = await setup.auditedActions()
    for (let query = '?limit=100'; query !== ''; ) {
      const { body } = await ask('GET', `/v1/audit-log${query}`)
      for (const { action, outcome } of body.data) if (outcome === 'done') audited.add(action)
      query = body.has_more ? `?limit=100&cursor=${body.next_cursor}` : ''
    }
    const silent = setup.operations.filter(({ method, id }) => method !== 'GET' && !audited.has(id))
    expect(silent.map(({ id, unaudited }) => `${id} ${unaudited}`).toSorted()).toEqual([
      'health_checks_run looks',
      'inbound_routes_test looks',
      'messages_analyze looks',
      'messages_batch sends',
      'messages_send sends',
      'messages_send sends', // at its second path
      'templates_preview looks',
      'templates_render looks',
    ])
    const known = new Set(setup.operations.filter(({ method }) => method !== 'GET').map(({ id }) => id))
    expect([...audited].filter((action) => !known.has(action))).toEqual([])
  })

  test('reaches every documented success in each of its forms', () => {
    const promised = read.operations.flatMap(({ id, operation }) =>
      Object.entries<Json>(operation.responses)
        .filter(([status]) => status < '300')
        .flatMap(([status, { content }]) =>
          Object.keys(content).map((type) => `${id} ${status} ${type.split(';')[0]}`),
        ),
    )
    expect(promised.filter((each) => !reached.has(each))).toEqual([])
  })

  test('refuses a missing key, a missing permission, an unknown resource and an unknown field', async () => {
    for (const documented of read.operations) {
      const { path, operation } = documented
      await askFor(documented, {}, { key: null })
      if (operation['x-permission'] !== 'any')
        await askFor(documented, {}, { key: operation['x-permission'] === 'send' ? setup.keys.read : setup.keys.send })
      if (path.includes('{')) await askFor(documented, {})
    }
    const ids = await records.all()
    for (const documented of read.operations) {
      const body = documented.operation.requestBody === undefined ? undefined : { unknown: true }
      const { body: answer } = await askFor(documented, ids, { query: '?unknown=1', body })
      const fields = answer.error?.errors?.map(({ field }: Json) => field)
      expect([documented.id, fields]).toEqual([documented.id, expect.arrayContaining(['unknown'])])
      if (body === undefined) continue
      await askFor(documented, ids, { body: ' '.repeat(BODY_BYTES + 1) })
      const both = await askFor(documented, ids, { body })
      expect([documented.id, both.status]).toEqual([documented.id, 400])
    }
    expect(faults).toEqual([])
  })

  test('refuses an Idempotency-Key that was used with another body', async () => {
    for (const documented of read.operations) {
      const { operation, id, path } = documented
      if (!operation.parameters.some(({ $ref }: Json) => $ref?.endsWith('/IdempotencyKey'))) continue
      const ids = await records.of(path)
      // A test key resends only its own messages; the other operations change live records.
      const key = id === 'messages_resend' ? setup.keys.test : setup.keys.live
      const used = { key, headers: { 'idempotency-key': `of ${id}` } }
      const example = records.withRealIds(operation.requestBody.content['application/json'].example)
      const body = JSON.stringify(example ?? {}).replace(/"(news|welcome|please-stop)/, `"${id.replaceAll('_', '-')}`)
      const first = await askFor(documented, ids, { ...used, body })
      expect([id, first.status < 300 ? 'good' : first.text]).toEqual([id, 'good'])
      const again = await askFor(documented, ids, { ...used, body })
      expect([id, again.headers.get('idempotent-replayed')]).toEqual([id, 'true'])
      await askFor(documented, ids, { ...used, body: '{"other": true}' })
    }
    expect(faults).toEqual([])
  })

  test('has specific refusals', async () => {
    const { live, unverified, poor } = setup.keys
    const refusal = async (id: string, code: string, ids: Ids, options: Ask = {}) => {
      const documented = operationOf(id)
      const example = records.withRealIds(documented.operation.requestBody?.content['application/json'].example)
      const { status, body } = await askFor(documented, ids, { body: example, ...options })
      expect([id, status, body.error?.code]).toEqual([id, expect.any(Number), code])
    }
    const ids = await records.all()
    const { message_id: later } = await records.scheduledMessage()
    const spare = await records.spareDomain()
    const template = { template_id: ids.template_id, subject: undefined, text: undefined }

    await refusal('messages_cancel', 'invalid_state', ids)
    await refusal('messages_update', 'invalid_state', ids)
    await refusal('messages_resend', 'invalid_state', ids, { key: live })
    await refusal('messages_resend', 'forbidden', { message_id: later }, { key: unverified })
    for (const send of ['messages_send', 'messages_send_alias']) {
      const stranger = { body: mail({ from: 'a@new.example' }), key: unverified }
      await refusal(send, 'domain_not_verified', {}, stranger)
      await refusal(send, 'template_error', {}, { body: mail(template) })
      await refusal(send, 'forbidden', {}, { body: mail({ from: 'a@stranger.example' }) })
    }
    await refusal('messages_analyze', 'template_error', {}, { body: mail(template) })
    await refusal('templates_render', 'template_error', ids, { body: {} })
    const loop = '{% for item in items %}{{ item.name }}{% endfor %}'
    await refusal('templates_preview', 'template_error', {}, { body: { text: loop } })
    await ask('PATCH', `/v1/templates/${ids.template_id}`, { body: { alias: 'taken' } })
    const { template_id: another = '' } = await records.all()
    await refusal('templates_update', 'conflict', { template_id: another }, { body: { alias: 'taken' } })
    await askFor(operationOf('messages_list'), {}, { query: '?domain_id=dom_none' })
    await askFor(operationOf('events_stream'), {}, { query: '?domain_id=dom_none' })
    await askFor(operationOf('inbound_messages_list'), {}, { query: '?domain_id=dom_none' })
    await ask('POST', `/v1/api-keys/${ids.key_id}/rotate`)
    await refusal('api_keys_rotate', 'invalid_state', ids)
    await ask('POST', `/v1/domains/${spare.domain_id}/rotate-dkim`)
    await refusal('domains_rotate_dkim', 'invalid_state', spare)
    await refusal('domains_delete', 'invalid_state', ids)
    await refusal('organizations_create', 'conflict', {}, { body: { name: 'poor' } })
    await refusal('organizations_update', 'conflict', ids, { body: { name: 'poor' } })
    await refusal('blocked_links_create', 'conflict', {})
    await refusal('users_create', 'conflict', {})
    const taken = { key: 'operator', body: { email: 'ann@example.com' } }
    await refusal('users_update', 'conflict', ids, taken)
    await refusal('domains_create', 'quota_exceeded', {}, { body: { name: 'second.example' }, key: poor })
    await ask('PATCH', `/v1/webhooks/${ids.webhook_id}`, { body: { status: 'paused' } })
    await refusal('webhooks_test', 'invalid_state', ids)
    await ask('POST', `/v1/inbound-messages/${ids.inbound_message_id}/redeliver`)
    await refusal('inbound_messages_redeliver', 'invalid_state', ids)
    expect(faults).toEqual([])
  })

  test('refuses when there are too many requests, when the store fails, and when the server stops', async () => {
    // Later refusals of a window wait (refusal-delay.ts), so each half of the operations has its own.
    const half = Math.ceil(read.operations.length / 2)
    for (const some of [read.operations.slice(0, half), read.operations.slice(half)]) {
      await ask('GET', '/v1/usage', { key: setup.keys.poor })
      for (const documented of some) await askFor(documented, {}, { key: setup.keys.poor })
      await setup.clock.advance(120_000)
    }
    setup.breakStore(true)
    for (const documented of read.operations) await askFor(documented, {})
    setup.breakStore(false)
    await setup.api.stop(0)
    for (const { id, method, path } of read.operations) {
      const request = new Request(`http://localhost${path.replace(/\{\w+\}/g, 'none')}`, { method })
      const response = await setup.api.fetch(request)
      const answered = { status: response.status, headers: response.headers, text: await response.text() }
      expect([id, read.faultIn(method, path, answered)]).toEqual([id, null])
      expect(response.headers.get('retry-after')).toBe('5')
      reached.add(`${id} ${response.status} ${JSON.parse(answered.text).error.code}`)
    }
    expect(faults).toEqual([])
  })

  test('has refused with every documented code, except those that other tests reach', () => {
    const promised = read.operations.flatMap(({ id, operation }) =>
      Object.entries<Json>(operation.responses)
        .filter(([status]) => status >= '300')
        .flatMap(([status, response]) => {
          const { schema } = read.deref(response).content['application/json']
          return schema.allOf[1].properties.error.properties.code.enum.map((code: string) => `${id} ${status} ${code}`)
        }),
    )
    // unfinished-bodies.test.ts has slow bodies
    const missing = promised.filter((each) => !reached.has(each) && !each.endsWith(' 408 request_timeout'))
    expect(missing.toSorted()).toEqual(ELSEWHERE)
  })
})

/** Every object in the document, with the path to it. */
function* inside(value: Json, at = '#'): Generator<{ at: string; value: Json }> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { at, value }
  for (const [key, below] of Object.entries(value)) yield* inside(below, `${at}/${key}`)
}

const isTime = (schema: Json) => schema !== undefined && read.deref(schema).format === 'date-time'
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Documented codes that these tests cannot produce. They need delivery engines, a month of mail, or a domain that
 *  failed or does not exist. Other tests produce them: messages-*.test.ts, blocked-links.test.ts,
 *  erasures.test.ts, flow/hostile-mail.test.ts, events.test.ts, stats.test.ts, quality.test.ts, limits.test.ts, users.test.ts
 *  webhooks.test.ts and switched-off.test.ts.
 *  Their responses are validated too (test/support/documented.ts). */
const ELSEWHERE = [
  'api_keys_create 422 quota_exceeded',
  'api_keys_rotate 422 quota_exceeded',
  'blocked_links_create 422 quota_exceeded',
  'canary_run 422 invalid_state',
  'domains_update 409 conflict',
  'events_list 404 not_found',
  'inbound_messages_attachment 422 invalid_state',
  'inbound_messages_get 422 invalid_state',
  'inbound_routes_confirmations 422 domain_not_verified',
  'inbound_routes_confirmations 422 invalid_state',
  'inbound_routes_confirmations 422 quota_exceeded',
  'inbound_routes_create 422 quota_exceeded',
  'me_get 403 forbidden',
  'messages_analyze 422 invalid_state',
  'messages_attachment 422 invalid_state',
  'messages_content 422 invalid_state',
  'messages_delete_content 422 invalid_state',
  'messages_resend 422 domain_not_verified',
  'messages_resend 422 quota_exceeded',
  'messages_send 422 invalid_state',
  'messages_send 422 quota_exceeded',
  'messages_send_alias 422 invalid_state',
  'messages_send_alias 422 quota_exceeded',
  'recipients_erase 422 invalid_state',
  'stats_read 404 not_found',
  'suppressions_create 422 quota_exceeded',
  'suppressions_import 422 invalid_state',
  'suppressions_import 422 quota_exceeded',
  'templates_create 422 quota_exceeded',
  'templates_create 422 template_error',
  'templates_delete 409 conflict',
  'templates_update 422 quota_exceeded',
  'templates_update 422 template_error',
  'users_delete 409 conflict',
  'webhook_deliveries_retry 422 invalid_state',
  'webhooks_create 422 quota_exceeded',
  'webhooks_test 422 quota_exceeded',
]

/** Example → the same example with IDs of existing records. */
