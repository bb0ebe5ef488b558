import { afterEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { Refusal } from '../../src/model/refusal.ts'
import type { Store } from '../../src/storage/store.ts'
import { rule } from '../../src/web/api/access.ts'
import { operation } from '../../src/web/api/operation.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

/** Starts an API whose operations add a suppression and count their runs. One of them waits for `gate` first. */
async function start(gate: () => Promise<void> = async () => {}) {
  const runs: string[] = []
  const suppress = (id: string, path: string, secretResponse: boolean, store: Store, mintId: TestApi['mintId']) =>
    operation({
      id,
      method: 'POST' as const,
      path,
      tag: 'Messages',
      access: rule('manage', 'viewer', 'no_records', 'organization'),
      summary: '',
      body: z.strictObject({ email: z.string(), fail: z.boolean().optional() }),
      idempotent: true,
      secretResponse,
      load: async ({ params, key }) => {
        if (params.name === 'theirs' && key.domainId !== made!.own.domain.id) throw new Refusal('forbidden', 'theirs')
        if (params.name === 'gone' && runs.length > 0) throw new Refusal('not_found', 'gone')
      },
      handle: async ({ body, organizationId, now, remember }) => {
        await gate()
        runs.push(body.email)
        if (body.fail) throw new Refusal('invalid_state', 'not now')
        const suppression = {
          id: mintId('sup'),
          organizationId,
          domainId: null,
          stream: null,
          email: body.email,
          reason: 'manual' as const,
          evidence: null,
          mode: 'live' as const,
          messageId: null,
          createdAt: now,
        }
        const answer = { status: 201, body: { id: suppression.id, secret: 'whsec_very-secret', 'ä€': '\ud800' } }
        await store.suppressions.add(suppression, remember(answer))
        return answer
      },
    })
  made = await createTestApi({
    operations: ({ store, mintId }) => [
      suppress('plain', '/v1/plain', false, store, mintId),
      suppress('plain', '/v1/other-path', false, store, mintId),
      suppress('sealed', '/v1/sealed', true, store, mintId),
      suppress('named', '/v1/named/:name', false, store, mintId),
    ],
  })
  const post = (path: string, key: string, body: unknown, more: Parameters<TestApi['ask']>[2] = {}) =>
    made!.ask('POST', path, { ...more, body, headers: { 'idempotency-key': key, ...more.headers } })
  return { ...made, runs, post }
}

describe('a request with an Idempotency-Key', () => {
  test.each(['/v1/plain', '/v1/sealed'])('%s gets the same answer byte for byte, and runs once', async (path) => {
    const { post, runs } = await start()
    const first = await post(path, 'k', { email: 'a@b.example' })
    const again = await post(path, 'k', { email: 'a@b.example' })
    expect([again.status, again.text]).toEqual([201, first.text])
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(runs).toHaveLength(1)
  })

  test('is the same on two paths of one operation', async () => {
    const { post, runs } = await start()
    const first = await post('/v1/plain', 'k', { email: 'a@b.example' })
    expect((await post('/v1/other-path', 'k', { email: 'a@b.example' })).text).toBe(first.text)
    expect(runs).toHaveLength(1)
  })

  test('with another body, operation or path parameter gets 409 idempotency_key_reused', async () => {
    const { post } = await start()
    await post('/v1/named/a', 'k', { email: 'a@b.example' })
    const others = [
      await post('/v1/named/a', 'k', { email: 'c@b.example' }),
      await post('/v1/named/a', 'k', '{"email": "a@b.example"}'),
      await post('/v1/named/b', 'k', { email: 'a@b.example' }),
      await post('/v1/plain', 'k', { email: 'a@b.example' }),
    ]
    for (const answer of others) {
      expect(answer.status).toBe(409)
      expect(answer.body.error).toMatchObject({ code: 'conflict', details: { reason: 'idempotency_key_reused' } })
    }
  })

  // threat: idempotency-key-abuse
  test('of a test key does not collide with a live request, and shows it nothing', async () => {
    const { post, addKey, own, runs } = await start()
    const sandbox = await addKey(own, { mode: 'test' })
    const squatted = await post('/v1/plain', 'order-1001', { email: 'squatter@b.example' }, { key: sandbox })
    const live = await post('/v1/plain', 'order-1001', { email: 'a@b.example' })
    expect([squatted.status, live.status]).toEqual([201, 201])
    const same = await post('/v1/plain', 'order-1001', { email: 'a@b.example' }, { key: sandbox })
    expect([same.status, same.body.error?.details.reason]).toEqual([409, 'idempotency_key_reused'])
    expect(runs).toEqual(['squatter@b.example', 'a@b.example'])
  })

  // threat: idempotency-key-abuse
  test('replays nothing of a resource outside the key’s reach', async () => {
    const { post, addKey, own, runs } = await start()
    const elsewhere = await addKey({ ...own, domain: { ...own.domain, id: 'dom_01m7ykx6js1zy8zpzy8z8cwhzy' } })
    const first = await post('/v1/named/theirs', 'k', { email: 'a@b.example' })
    const answer = await post('/v1/named/theirs', 'k', { email: 'a@b.example' }, { key: elsewhere })
    expect([first.status, answer.status]).toEqual([201, 403])
    expect((await post('/v1/named/theirs', 'k', { email: 'a@b.example' })).text).toBe(first.text)
    expect(runs).toHaveLength(1)
  })

  // threat: idempotency-key-abuse
  test('belongs to the organization: another one has its own', async () => {
    const { post, other, own, addKey, runs } = await start()
    const first = await post('/v1/plain', 'k', { email: 'a@b.example' })
    const elsewhere = await post('/v1/plain', 'k', { email: 'a@b.example' }, { key: other.keys.manage })
    expect(elsewhere.status).toBe(201)
    expect(elsewhere.body.id).not.toBe(first.body.id)
    const sibling = await addKey(own)
    expect((await post('/v1/plain', 'k', { email: 'a@b.example' }, { key: sibling })).text).toBe(first.text)
    expect(runs).toHaveLength(2)
  })

  test('expires after 24 hours', async () => {
    const { post, clock, runs } = await start()
    await post('/v1/plain', 'k', { email: 'a@b.example' })
    await clock.advance(24 * 3_600_000 - 1)
    expect((await post('/v1/plain', 'k', { email: 'a@b.example' })).headers.get('idempotent-replayed')).toBe('true')
    await clock.advance(2)
    await post('/v1/plain', 'k', { email: 'a@b.example' })
    expect(runs).toHaveLength(2)
  })

  test('runs again when it failed', async () => {
    const { post, runs } = await start()
    const first = await post('/v1/plain', 'k', { email: 'a@b.example', fail: true })
    const second = await post('/v1/plain', 'k', { email: 'a@b.example', fail: true })
    expect([first.status, second.status]).toEqual([422, 422])
    expect((await post('/v1/plain', 'k', { bad: 1 })).status).toBe(400)
    expect((await post('/v1/plain', 'k', { email: 'a@b.example' })).status).toBe(201)
    expect(runs).toHaveLength(3)
  })

  test('is replayed although the resource in its path is gone, but not without the permission', async () => {
    const { post, own } = await start()
    const first = await post('/v1/named/gone', 'k', { email: 'a@b.example' })
    expect((await post('/v1/named/gone', 'k', { email: 'a@b.example' })).text).toBe(first.text)
    expect((await post('/v1/named/gone', 'new', { email: 'a@b.example' })).status).toBe(404)
    const powerless = await post('/v1/named/gone', 'k', { email: 'a@b.example' }, { key: own.keys.read })
    expect(powerless.status).toBe(403)
  })

  // threat: idempotency-key-abuse
  test.each(['', 'x'.repeat(256), 'tab\tinside', 'ümlaut'])('that is invalid (%p) gets 400', async (key) => {
    const { post, runs } = await start()
    const answer = await post('/v1/plain', key, { email: 'a@b.example' })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'Idempotency-Key'])
    expect(runs).toHaveLength(0)
  })

  test('of 255 printable characters is accepted', async () => {
    const { post } = await start()
    expect((await post('/v1/plain', `!${'~'.repeat(254)}`, { email: 'a@b.example' })).status).toBe(201)
  })
})

describe('concurrent requests', () => {
  // threat: idempotency-key-abuse
  test('with one key run once and get one answer, also a hundred of them', async () => {
    const gate = Promise.withResolvers<void>()
    const { post, runs, clock } = await start(() => gate.promise)
    const racing = Array.from({ length: 100 }, () => post('/v1/plain', 'k', { email: 'a@b.example' }))
    await clock.untilSleeping(99)
    gate.resolve()
    const responses = await Promise.all(racing)
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(99)
    expect(runs).toHaveLength(1)
    expect(clock.sleeps()).toEqual([])
  })

  test('do not wait when their body differs', async () => {
    const gate = Promise.withResolvers<void>()
    const { post } = await start(() => gate.promise)
    const first = post('/v1/plain', 'k', { email: 'a@b.example' })
    const other = await post('/v1/plain', 'k', { email: 'c@b.example' })
    expect([other.status, other.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
    gate.resolve()
    expect((await first).status).toBe(201)
  })

  test('that wait 20 s get 409 request_in_progress', async () => {
    const gate = Promise.withResolvers<void>()
    const { post, clock } = await start(() => gate.promise)
    const first = post('/v1/plain', 'k', { email: 'a@b.example' })
    const second = post('/v1/plain', 'k', { email: 'a@b.example' })
    await clock.untilSleeping(1)
    await clock.advance(20_000)
    const answer = await second
    expect([answer.status, answer.body.error.details.reason]).toEqual([409, 'request_in_progress'])
    gate.resolve()
    expect((await first).status).toBe(201)
  })

  test('run one after another when the first fails', async () => {
    let calls = 0
    let atOnce = 0
    let most = 0
    const { post, runs } = await start(async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce--
      if (++calls <= 2) throw new Error('broken')
    })
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => post('/v1/plain', 'k', { email: 'a@b.example' })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 500, 500])
    expect([most, runs.length]).toEqual([1, 1])
  })
})

// threat: secrets-exposed
test('an answer with a secret is not readable in the store, others are', async () => {
  const { post, store, own } = await start()
  await post('/v1/sealed', 'sealed-key', { email: 'a@b.example' })
  await post('/v1/plain', 'plain-key', { email: 'b@b.example' })
  const read = async (key: string) => {
    const hash = new Bun.CryptoHasher('sha256').update(`${own.domain.id}\n${key}`).digest()
    const record = await store.idempotency.find(own.organization.id, hash, 0)
    return Buffer.from(record!.body).toString('latin1')
  }
  expect(await read('sealed-key')).not.toContain('secret')
  expect(await read('plain-key')).toContain('very-secret')
})

test('a key of another domain of the organization does not get the stored answer', async () => {
  const { post, runs } = await start()
  const { own, addKey, store, mintId, clock } = made!
  const domain = { ...own.domain, id: mintId('dom'), name: 'second.example', returnPathHost: 'b.second.example' }
  expect(await store.domains.create({ ...domain, createdAt: clock.now() }, -1)).toBe('created')
  const second = await addKey({ organization: own.organization, domain }, { permissions: ['manage'] })
  const body = { email: 'a@b.example' }
  const answers = [await post('/v1/plain', 'k', body), await post('/v1/plain', 'k', body, { key: second })]
  expect([answers.map(({ status }) => status), runs.length]).toEqual([[201, 201], 2])
  expect(answers[1]!.body.id).not.toBe(answers[0]!.body.id)
})
