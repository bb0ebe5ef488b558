import { afterEach, describe, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'
import { claimDue } from '../support/claim.ts'
import { inboundMessage, storedMail } from '../support/inbound.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}
const URL = 'https://hooks.example.com/in'
const ADDRESS = { type: 'address', value: 'support@own.example' }
const NO_HEADERS = { url: URL, include_attachments: false, replies: true, header_names: [] }
const WEBHOOK = { type: 'webhook', config: { url: URL } }
/** Forward targets as in the record of a route, on a server without DNS checks. */
const targets = (...to: string[]) => to.map((email) => ({ email, status: 'confirmed', is_stopped: false }))
const forwardTo = (to: unknown) => ({ type: 'forward', config: { to } })
const create = async ({ ask }: TestApi, change: Record<string, unknown> = {}) =>
  ask('POST', '/v1/inbound-routes', { body: { name: 'support', match: ADDRESS, action: WEBHOOK, ...change } })
const fieldsOf = ({ body }: { body: { error: { errors: { field: string }[] } } }) =>
  body.error.errors.map(({ field }) => field)

describe('an inbound route', () => {
  test('is created with its defaults, and its secret is shown once', async () => {
    const api = await start()
    const answer = await create(api)
    expect(answer.status).toBe(201)
    const { secret, ...record } = answer.body
    expect(record).toEqual({
      id: record.id,
      name: 'support',
      match: { type: 'address', value: 'support@own.example' },
      domain: 'own.example',
      action: { type: 'webhook', config: NO_HEADERS },
      authentication: 'none',
      enabled: true,
      priority: 0,
      created_at: '2026-11-21T12:00:00.000Z',
    })
    expect(record.id).toMatch(/^rte_[0-9a-z]{26}$/)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await api.ask('GET', `/v1/inbound-routes/${record.id}`)).body).toEqual(record)
    const list = await api.ask('GET', '/v1/inbound-routes')
    expect(list.body).toEqual({ data: [record], has_more: false, next_cursor: null })
  })

  test('has the secret that signs its posts', async () => {
    const api = await start()
    const { id, secret } = (await create(api)).body
    const { store, own } = api
    const message = inboundMessage({
      id: api.mintId('inb'),
      organizationId: own.organization.id,
      domainId: own.domain.id,
      routeId: id,
      receivedAt: api.clock.now(),
    })
    await store.inbound.accept({ ...storedMail(), taken: [{ message, deliveryId: api.mintId('whd'), forward: null }] })
    const due = { now: api.clock.now(), limit: 1, worker: 'w', freeFor: () => 1 }
    const [claim] = await claimDue(store.inboundDeliveries, due)
    expect(claim!.route).toEqual({ id, url: URL, includeAttachments: false, replies: true, secret, headers: [] })
  })

  // threat: endpoint-headers-moved
  test('has headers, whose names alone are shown, until its URL leads to another host', async () => {
    const api = await start()
    const headers = { 'X-Api-Key': 'canary of the gateway' }
    const action = (config: object) => ({ action: { type: 'webhook', config } })
    const made = await create(api, action({ url: URL, headers }))
    expect(made.status).toBe(201)
    expect(made.text).not.toContain('canary')
    const record = made.body.action
    expect(record.config.header_names).toEqual(['X-Api-Key'])
    const names = async (body: object) =>
      (await api.ask('PATCH', `/v1/inbound-routes/${made.body.id}`, { body })).body.action.config.header_names
    expect(await names({ priority: 3 })).toEqual(['X-Api-Key'])
    expect(await names({ action: record })).toEqual(['X-Api-Key'])
    expect(await names(action({ url: URL, headers: null }))).toEqual([])
    expect(await names(action({ url: URL, headers }))).toEqual(['X-Api-Key'])
    expect(await names(action({ url: 'https://elsewhere.example/' }))).toEqual([])
    const refused = await create(api, action({ url: URL, headers: { Host: 'a', 'X-B': 'canary\n' } }))
    expect(fieldsOf(refused)).toEqual(['action.config.headers.Host', 'action.config.headers.X-B'])
    expect(refused.text).not.toContain('canary')
    const { data } = (await api.ask('GET', '/v1/audit-log', { key: api.own.keys.admin })).body
    expect(data.at(-1).fields).toContain('action.config.headers')
    expect(JSON.stringify(data)).not.toMatch(/canary|X-Api-Key/)
  })

  const good: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ match: { type: 'address', value: 'Support+Sales@OWN.Example' } }, { value: 'support+sales@own.example' }],
    [{ match: { type: 'address', value: '"A b"@own.example' } }, { value: '"a b"@own.example' }],
    [{ match: { type: 'pattern', value: 'Ticket-*-?@own.example' } }, { value: 'ticket-*-?@own.example' }],
    [{ match: { type: 'pattern', value: '*@own.example' } }, { value: '*@own.example' }],
    [{ match: { type: 'domain', value: 'OWN.example' } }, { value: 'own.example' }],
    [{ match: { type: 'catch_all' } }, { value: null }],
    [{ match: { type: 'catch_all', value: null } }, { value: null }],
    [{ action: { type: 'store' } }, { config: {} }],
    [{ action: { type: 'store', config: {} } }, { config: {} }],
    [{ action: forwardTo('Ann@elsewhere.example') }, { config: { to: targets('Ann@elsewhere.example') } }],
    [
      { action: forwardTo(['a@x.example', 'A@x.example', 'b@x.example']) },
      { config: { to: targets('A@x.example', 'b@x.example') } },
    ],
    [
      { action: { type: 'webhook', config: { url: URL, include_attachments: true } } },
      { config: { url: URL, include_attachments: true, replies: true, header_names: [] } },
    ],
  ]
  test.each(good)('with %j stores %j', async (change, kept) => {
    const answer = await create(await start(), change)
    expect(answer.status).toBe(201)
    expect('match' in change ? answer.body.match : answer.body.action).toMatchObject(kept)
    expect(answer.body.action.config).toEqual(kept.config ?? NO_HEADERS)
  })

  test('for a domain with non-ASCII letters is stored under its A-label', async () => {
    const api = await start()
    await api.ask('POST', '/v1/domains', { body: { name: 'bücher.example' } })
    const body = { name: 'support', match: { type: 'address', value: 'Jürgen@BÜCHER.example' }, action: WEBHOOK }
    const answer = await api.ask('POST', '/v1/inbound-routes', { key: api.own.keys.admin, body })
    expect([answer.status, answer.body.match?.value]).toEqual([201, 'jürgen@xn--bcher-kva.example'])
  })

  const bad: [Record<string, unknown>, string[]][] = [
    [{ name: undefined, match: undefined, action: undefined }, ['name', 'match', 'action']],
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ name: 'a\nb' }, ['name']],
    [{ match: 'support@own.example' }, ['match']],
    [{ match: { type: 'regex', value: '.*' } }, ['match.type']],
    [{ match: { type: 'address' } }, ['match.value']],
    [{ match: { type: 'address', value: 'own.example' } }, ['match.value']],
    [{ match: { type: 'address', value: 'Ann <ann@own.example>' } }, ['match.value']],
    [{ match: { type: 'address', value: 'info-*@own.example' } }, ['match.value']],
    [{ match: { type: 'pattern', value: 'a b*@own.example' } }, ['match.value']],
    [{ match: { type: 'pattern', value: '"a*"@own.example' } }, ['match.value']],
    [{ match: { type: 'pattern', value: '*@*.example' } }, ['match.value']],
    [{ match: { type: 'domain', value: 'own' } }, ['match.value']],
    [{ match: { type: 'domain', value: 'unknown.example' } }, ['match.value']],
    [{ match: { type: 'address', value: 'a@sub.own.example' } }, ['match.value']],
    [{ match: { type: 'catch_all', value: 'own.example' } }, ['match.value']],
    [{ match: { ...ADDRESS, local: 'x' } }, ['match.local']],
    [{ action: { type: 'drop' } }, ['action.type']],
    [{ action: { type: 'webhook' } }, ['action.config']],
    [{ action: { type: 'webhook', config: {} } }, ['action.config.url']],
    [{ action: { type: 'webhook', config: { url: 'http://hooks.example.com/' } } }, ['action.config.url']],
    [{ action: { type: 'webhook', config: { url: 'https://127.0.0.1/' } } }, ['action.config.url']],
    [{ action: { type: 'webhook', config: { url: URL, to: 'a@x.example' } } }, ['action.config.to']],
    [
      { action: { type: 'webhook', config: { url: URL, include_attachments: 1 } } },
      ['action.config.include_attachments'],
    ],
    [{ action: forwardTo([]) }, ['action.config.to']],
    [{ action: forwardTo('nobody') }, ['action.config.to']],
    [{ action: forwardTo(['a@x.example', 'nobody']) }, ['action.config.to[1]']],
    [{ action: forwardTo(Array.from({ length: 11 }, (_, at) => `a${at}@x.example`)) }, ['action.config.to']],
    [{ action: { type: 'store', config: { url: URL } } }, ['action.config.url']],
    [{ authentication: 'spf' }, ['authentication']],
    [{ enabled: 'yes' }, ['enabled']],
    [{ priority: 1001 }, ['priority']],
    [{ priority: 0.5 }, ['priority']],
    [{ secret: 'mine', domain_id: 'dom_1' }, ['secret', 'domain_id']],
  ]
  test.each(bad)('with %j gets 400 and names %j', async (change, fields) => {
    const answer = await create(await start(), change)
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'validation_error'])
    expect(fieldsOf(answer)).toEqual(fields)
  })

  test('for a domain of another organization gets 403', async () => {
    const api = await start()
    for (const match of [
      { type: 'domain', value: 'other.example' },
      { type: 'address', value: 'a@OTHER.example' },
      { type: 'pattern', value: '*@other.example' },
    ]) {
      const answer = await create(api, { match })
      expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden'])
    }
    const { id } = (await create(api)).body
    const change = { match: { type: 'domain', value: 'other.example' } }
    expect((await api.ask('PATCH', `/v1/inbound-routes/${id}`, { body: change })).status).toBe(403)
    expect((await api.ask('GET', '/v1/inbound-routes')).body.data).toHaveLength(1)
  })

  test('with an Idempotency-Key is created once, and its secret is shown again', async () => {
    const api = await start()
    const options = {
      body: { name: 'support', match: ADDRESS, action: WEBHOOK },
      headers: { 'idempotency-key': 'k' },
    }
    const first = await api.ask('POST', '/v1/inbound-routes', options)
    const again = await api.ask('POST', '/v1/inbound-routes', options)
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect(first.body.secret).toBeString()
    // Stored encrypted, and replayed only for the same permissions.
    const key = await api.addKey(api.own, { permissions: ['manage', 'send'] })
    const other = await api.ask('POST', '/v1/inbound-routes', { ...options, key })
    expect([other.status, other.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
    expect((await api.ask('GET', '/v1/inbound-routes')).body.data).toHaveLength(1)
  })

  test('may exist twice for the same match and priority', async () => {
    const api = await start()
    expect([(await create(api)).status, (await create(api)).status]).toEqual([201, 201])
  })

  test('is changed field by field, match and action as a whole, and wakes the scheduler', async () => {
    const api = await start()
    const { secret: _, ...record } = (await create(api)).body
    const patch = (body: unknown) => api.ask('PATCH', `/v1/inbound-routes/${record.id}`, { body })
    const same = await patch({})
    expect([same.status, same.body, api.wakes()]).toEqual([200, record, 0])
    const changes = [
      { name: 'sales' },
      { match: { type: 'domain', value: 'own.example' } },
      { action: forwardTo(['a@x.example']) },
      { authentication: 'require_pass' },
      { enabled: false },
      { priority: -1000 },
    ]
    for (const [at, change] of changes.entries()) {
      Object.assign(record, change, 'action' in change && { action: forwardTo(targets('a@x.example')) })
      const changed = await patch(change)
      expect([changed.status, changed.body, api.wakes()]).toEqual([200, record, at + 1])
    }
    expect((await api.ask('GET', `/v1/inbound-routes/${record.id}`)).body).toEqual(record)
    for (const [body, field] of [
      [{ match: { type: 'domain' } }, 'match.value'],
      [{ match: { type: 'domain', value: 'unknown.example' } }, 'match.value'],
      [{ action: { config: { url: URL } } }, 'action.type'],
      [{ secret: 'x' }, 'secret'],
      [{ name: null }, 'name'],
    ] as const) {
      const answer = await patch(body)
      expect([answer.status, answer.body.error.field]).toEqual([400, field])
    }
  })

  test('is deleted once, and then gets 404', async () => {
    const api = await start()
    const { id } = (await create(api)).body
    const gone = await api.ask('DELETE', `/v1/inbound-routes/${id}`)
    expect([gone.status, gone.body]).toEqual([200, { id, deleted: true }])
    expect((await api.ask('DELETE', `/v1/inbound-routes/${id}`)).status).toBe(404)
    expect((await api.ask('GET', '/v1/inbound-routes')).body.data).toEqual([])
  })

  test('is listed in pages, newest first, for its organization only', async () => {
    const api = await start()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      ids.unshift((await create(api, { name })).body.id)
      await api.clock.advance(1)
    }
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await api.ask('GET', `/v1/inbound-routes?limit=1${cursor}`)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
    } while (cursor !== '')
    expect(seen).toEqual(ids)
    expect((await api.ask('GET', '/v1/inbound-routes', { key: api.other.keys.manage })).body.data).toEqual([])
    expect((await api.ask('GET', '/v1/inbound-routes?status=x')).status).toBe(400)
  })
})

describe('the test of a route', () => {
  const server = async () => {
    const api = await start()
    const route = async (name: string, change: Record<string, unknown>) => {
      await api.clock.advance(1)
      const { secret: _, ...record } = (await create(api, { name, ...change })).body
      return record
    }
    const all = await route('all', { match: { type: 'catch_all' } })
    const support = await route('support', {})
    const off = await route('off', { enabled: false, priority: 9 })
    const probe = (id: string, body: unknown) => api.ask('POST', `/v1/inbound-routes/${id}/test`, { body })
    return { api, all, support, off, probe }
  }
  const MAIL = { from: 'ann@sender.example', to: 'support@own.example', subject: 'Hi' }

  test('says that it would take the mail, and why the others would not', async () => {
    const { all, support, probe } = await server()
    const answer = await probe(support.id, MAIL)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        taken_by: support,
        takes: true,
        by: 'address',
        via_bare_address: false,
        reason: '"support" accepts the mail: the address is support@own.example',
        considered: [
          {
            id: support.id,
            name: 'support',
            matches: true,
            reason: 'accepts the mail: the address is support@own.example',
          },
          {
            id: all.id,
            name: 'all',
            matches: true,
            reason:
              'matches (it matches every address at own.example), but "support" takes precedence: an address takes precedence over a catch-all',
          },
        ],
      },
    ])
  })

  test('says which other route would, and evaluates itself even when it is disabled', async () => {
    const { all, support, off, probe } = await server()
    const asked = (await probe(all.id, { to: 'Support+tag@OWN.example' })).body
    expect([asked.taken_by.id, asked.takes, asked.by, asked.via_bare_address]).toEqual([
      support.id,
      false,
      'address',
      true,
    ])
    const disabled = (await probe(off.id, { to: 'support@own.example', from: '' })).body
    expect([disabled.taken_by.id, disabled.takes]).toEqual([support.id, false])
    expect(disabled.considered.find(({ id }: { id: string }) => id === off.id)).toEqual({
      id: off.id,
      name: 'off',
      matches: false,
      reason: 'would match but is disabled',
    })
  })

  test('says that no route would: none matches, the domain is foreign, or it is a return path', async () => {
    const { api, all, support, probe } = await server()
    await api.ask('DELETE', `/v1/inbound-routes/${all.id}`)
    const nobody = { taken_by: null, takes: false, by: null, via_bare_address: false }
    const unmatched = (await probe(support.id, { to: 'sales@own.example' })).body
    expect(unmatched).toMatchObject({ ...nobody, considered: [{ id: support.id, matches: false }] })
    expect(unmatched.reason).toContain('550 5.1.1')
    const foreign = (await probe(support.id, { to: 'a@unknown.example' })).body
    expect(foreign).toEqual({
      ...nobody,
      reason: 'unknown.example is not a domain of this server: mail to it is rejected with 550 5.7.1',
      considered: [],
    })
    const { returnPathHost } = api.own.domain
    const bounce = (await probe(support.id, { to: `x@${returnPathHost}` })).body
    expect(bounce).toMatchObject({ ...nobody, considered: [] })
    expect(bounce.reason).toStartWith(`${returnPathHost} is a return path`)
  })

  test('refuses an invalid mail, and a domain of another organization', async () => {
    const { support, probe } = await server()
    for (const [body, fields] of [
      [{}, ['to']],
      [{ to: 'nobody' }, ['to']],
      [{ ...MAIL, from: 'Ann' }, ['from']],
      [{ ...MAIL, subject: 5, html: 'x' }, ['subject', 'html']],
    ] as const) {
      const answer = await probe(support.id, body)
      expect([answer.status, fieldsOf(answer)]).toEqual([400, [...fields]])
    }
    expect((await probe(support.id, { to: 'a@other.example' })).status).toBe(403)
  })
})
