import { afterEach, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}

test('an address is suppressed, found by id and by address, and removed', async () => {
  const { ask, own } = await start()
  const answer = await ask('POST', '/v1/suppressions', { body: { email: 'Ann+News@Example.ORG' } })
  const record = {
    id: answer.body.id,
    email: 'ann+news@example.org',
    reason: 'manual',
    domain_id: null,
    stream: null,
    message_id: null,
    created_at: '2026-11-21T12:00:00.000Z',
    evidence: null,
    mode: 'live',
  }
  expect([answer.status, answer.body]).toEqual([201, record])
  expect(record.id).toMatch(/^sup_[0-9a-z]{26}$/)
  const key = own.keys.read
  for (const name of [record.id, 'ann+news@example.org', 'ANN%2Bnews%40example.org']) {
    expect((await ask('GET', `/v1/suppressions/${name}`, { key })).body).toEqual(record)
  }
  const gone = await ask('DELETE', '/v1/suppressions/ann+news@example.org')
  expect([gone.status, gone.body]).toEqual([200, { id: record.id, deleted: true }])
  expect((await ask('DELETE', `/v1/suppressions/${record.id}`)).status).toBe(404)
  expect((await ask('GET', '/v1/suppressions', { key })).body).toEqual({ data: [], has_more: false, next_cursor: null })
})

test('an address is found in each of its spellings, and its domain by what is typed of it', async () => {
  const { ask, own } = await start()
  const read = async (path: string) => (await ask('GET', `/v1/suppressions${path}`, { key: own.keys.read })).body
  const added = await ask('POST', '/v1/suppressions', { body: { email: '"ann"@Bücher.example' } })
  expect(added.body.email).toBe('ann@xn--bcher-kva.example')
  const SPELLINGS = ['Ann@BÜCHER.example', '"ann"@xn--bcher-kva.example', '<ann@bücher.example>']
  for (const name of SPELLINGS.map(encodeURIComponent)) {
    expect((await read(`/${name}`)).id).toBe(added.body.id)
    expect((await read(`?email=${name}`)).data).toHaveLength(1)
  }
  for (const [text, count] of [
    ['Ann Lee <ann@bücher.example>', 1],
    ['"ann"@Bücher.exa', 1],
    ['Bücher.example', 1],
    ['@bücher.ex', 1],
    ['an', 1],
    ['bucher.example', 0],
  ] as const) {
    const { data } = await read(`?q=${encodeURIComponent(text)}`)
    expect([text, data.length]).toEqual([text, count])
  }
  const gone = await ask('DELETE', `/v1/suppressions/${encodeURIComponent('ann@Bücher.example')}`)
  expect(gone.body.id).toBe(added.body.id)
})

test('an address that is suppressed already gets 409 and names the suppression', async () => {
  const { ask, own } = await start()
  const first = await ask('POST', '/v1/suppressions', { body: { email: 'a@b.example', reason: 'complaint' } })
  const again = await ask('POST', '/v1/suppressions', { body: { email: 'A@b.example' } })
  expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  expect(again.body.error.details).toMatchObject({ suppression_id: first.body.id, reason: 'complaint' })
  const body = { email: 'a@b.example', domain_id: own.domain.id }
  expect((await ask('POST', '/v1/suppressions', { body })).status).toBe(201)
})

test('by address the widest suppression is shown, and all are removed', async () => {
  const { ask, own } = await start()
  await ask('POST', '/v1/suppressions', { body: { email: 'a@b.example', domain_id: own.domain.id } })
  const wide = await ask('POST', '/v1/suppressions', { body: { email: 'a@b.example' } })
  expect((await ask('GET', '/v1/suppressions/a@b.example', { key: own.keys.read })).body.id).toBe(wide.body.id)
  expect((await ask('DELETE', '/v1/suppressions/a@b.example')).body.id).toBe(wide.body.id)
  expect((await ask('GET', '/v1/suppressions/a@b.example', { key: own.keys.read })).status).toBe(404)
})

test('an address has one suppression for each stream; the widest is shown, and one of them can be removed', async () => {
  const { ask, own } = await start()
  const add = async (body: object) =>
    (await ask('POST', '/v1/suppressions', { body: { email: 'a@b.example', ...body } })).body
  const bulk = await add({ stream: 'bulk', reason: 'unsubscribe' })
  expect(bulk).toMatchObject({ stream: 'bulk', reason: 'unsubscribe' })
  expect((await add({ stream: 'bulk' })).error).toMatchObject({
    code: 'conflict',
    details: { suppression_id: bulk.id },
  })
  const all = await add({})
  const key = own.keys.read
  expect((await ask('GET', '/v1/suppressions/a@b.example', { key })).body.id).toBe(all.id)
  const listed = async (query: string) =>
    (await ask('GET', `/v1/suppressions?${query}`, { key })).body.data.map(({ id }: { id: string }) => id)
  expect(await listed('stream=bulk')).toEqual([bulk.id])
  expect(await listed('stream=was-configured-once')).toEqual([])
  await ask('DELETE', `/v1/suppressions/${all.id}`)
  expect(await listed('email=a@b.example')).toEqual([bulk.id])
})

const bad: [Record<string, unknown>, string][] = [
  [{}, 'email'],
  [{ email: 'Ann <a@b.example>' }, 'email'],
  [{ email: 'a@b.example, c@d.example' }, 'email'],
  [{ email: 'a@b.example\r\nX: y' }, 'email'],
  [{ email: 'a@b.example', reason: 'spite' }, 'reason'],
  [{ email: 'a@b.example', domain_id: 'dom_x' }, 'domain_id'],
  [{ email: 'a@b.example', stream: 'unknown' }, 'stream'],
  [{ email: 'a@b.example', mail: 1 }, 'mail'],
]
test.each(bad)('%j gets 400', async (body, field) => {
  const { ask } = await start()
  const answer = await ask('POST', '/v1/suppressions', { body })
  expect([answer.status, answer.body.error.field]).toEqual([400, field])
})

test('for a domain of another organization gets 403', async () => {
  const { ask, other } = await start()
  const body = { email: 'a@b.example', domain_id: other.domain.id }
  expect((await ask('POST', '/v1/suppressions', { body })).status).toBe(403)
})

test('the list filters by address, reason and time', async () => {
  const { ask, own, clock } = await start()
  for (const [email, reason] of [
    ['a@b.example', 'complaint'],
    ['c@b.example', 'manual'],
    ['d@b.example', 'complaint'],
  ]) {
    await ask('POST', '/v1/suppressions', { body: { email, reason } })
    await clock.advance(1_000)
  }
  const emails = async (query: string) =>
    (await ask('GET', `/v1/suppressions?${query}`, { key: own.keys.read })).body.data.map(
      ({ email }: { email: string }) => email,
    )
  expect(await emails('')).toEqual(['d@b.example', 'c@b.example', 'a@b.example'])
  expect(await emails('reason=complaint')).toEqual(['d@b.example', 'a@b.example'])
  expect(await emails('email=C@B.example')).toEqual(['c@b.example'])
  expect(await emails('created_after=2026-11-21T12:00:01Z')).toEqual(['d@b.example', 'c@b.example'])
  expect(await emails('created_before=2026-11-21T12:00:01Z')).toEqual(['a@b.example'])
  const wrong = await ask('GET', '/v1/suppressions?created_before=yesterday&reason=x', { key: own.keys.read })
  expect(wrong.body.error.errors.map(({ field }: { field: string }) => field)).toEqual(['created_before', 'reason'])
})
