import { afterEach, expect, spyOn, test } from 'bun:test'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}
const PATH = '/v1/suppressions/import'
const NOTHING = { added: 0, already_there: 0, passed_over: 0, bad: 0, dry_run: false, errors: [], errors_left_out: 0 }
const exported = async ({ ask, own }: TestApi) =>
  (await ask('GET', '/v1/suppressions/export', { key: own.keys.read })).text

test('an export can be imported again, with its formulas and with suppressions of other domains', async () => {
  const api = await start()
  const { ask, own, other } = api
  const at = (email: string, more: object = {}) => ({ email, created_at: '2024-02-29T10:00:00Z', ...more })
  const suppressions = [
    at('=cmd|calc@x.example', { reason: 'complaint' }),
    at('-b@x.example', { domain_id: own.domain.id }),
    at("'c@x.example", { evidence: '@sum, "quoted"', stream: 'bulk' }),
    { email: 'D@X.example' },
    at('e@x.example', { domain_id: other.domain.id }),
  ]
  expect((await ask('POST', PATH, { body: { suppressions } })).body).toEqual({
    ...NOTHING,
    added: 4,
    bad: 1,
    errors: [{ number: 5, message: 'domain_id does not match any domain of this organization' }],
  })
  const csv = await exported(api)
  expect(csv.split('\r\n')).toEqual([
    'email,reason,domain_id,message_id,created_at,evidence,stream',
    'd@x.example,manual,,,2026-11-21T12:00:00.000Z,,',
    ...['', '', ''].map(() => expect.any(String) as never),
    '',
  ])
  expect(csv).toContain("\r\n'=cmd|calc@x.example,complaint,,,2024-02-29T10:00:00.000Z,,\r\n")
  expect(csv).toContain(`\r\n''c@x.example,manual,,,2024-02-29T10:00:00.000Z,"'@sum, ""quoted""",bulk\r\n`)

  expect((await ask('POST', PATH, { body: { csv } })).body).toEqual({ ...NOTHING, already_there: 4 })
  const all = (await ask('GET', '/v1/suppressions', { key: own.keys.read })).body.data
  await ask('DELETE', `/v1/suppressions/${all[0].id}`)
  await ask('DELETE', `/v1/suppressions/${all[1].id}`)
  const headers = { 'content-type': 'text/csv; charset=utf-8' }
  expect((await ask('POST', PATH, { body: csv, headers })).body).toEqual({ ...NOTHING, added: 2, already_there: 2 })
  expect((await exported(api)).split('\r\n').toSorted()).toEqual(csv.split('\r\n').toSorted())
})

test('an export of another service keeps reason, day and evidence, and is listed by its day', async () => {
  const api = await start()
  const { ask, own } = api
  await ask('POST', '/v1/suppressions', { body: { email: 'now@x.example' } })
  const csv =
    'address,code,error,created_at\na@x.example,550,gone,"Fri, 21 Oct 2011 11:02:55 GMT"\nb@x.example,421,later,\n'
  expect((await ask('POST', PATH, { body: { csv } })).body).toEqual({
    ...NOTHING,
    added: 1,
    passed_over: 1,
    errors: [{ number: 3, message: 'was a temporary failure, which is not imported' }],
  })
  const key = own.keys.read
  expect((await ask('GET', '/v1/suppressions', { key })).body.data).toMatchObject([
    { email: 'now@x.example' },
    {
      email: 'a@x.example',
      reason: 'hard_bounce',
      created_at: '2011-10-21T11:02:55.000Z',
      evidence: 'Mailgun: 550 gone',
    },
  ])
  const year = 'created_after=2011-01-01&created_before=2012-01-01'
  expect((await ask('GET', `/v1/suppressions?${year}`, { key })).body.data).toHaveLength(1)
  expect((await ask('GET', '/v1/suppressions/export?reason=hard_bounce', { key })).text.split('\r\n')).toHaveLength(3)
})

test('a dry run counts what would be added, and writes nothing', async () => {
  const api = await start()
  const { ask } = api
  await ask('POST', '/v1/suppressions', { body: { email: 'b@x.example' } })
  const body = { csv: 'email\na@x.example\nb@x.example\nA@x.example\n', dry_run: true }
  expect((await ask('POST', PATH, { body })).body).toEqual({ ...NOTHING, added: 1, already_there: 2, dry_run: true })
  expect((await exported(api)).split('\r\n')).toHaveLength(3)
})

test('an import names a stream for entries without one, and refuses records of an unknown stream', async () => {
  const api = await start()
  const { ask, own } = api
  const csv = 'email,reason,stream\na@x.example,unsubscribe,\na@x.example,unsubscribe,bulk\nb@x.example,manual,gone\n'
  const errors = [{ number: 4, message: 'stream must be one of: bulk, transactional' }]
  const unnamed = { ...NOTHING, added: 2, bad: 1, errors }
  expect((await ask('POST', PATH, { body: { csv, dry_run: true } })).body).toEqual({ ...unnamed, dry_run: true })
  const body = { csv, stream: 'bulk' }
  expect((await ask('POST', PATH, { body })).body).toEqual({ ...NOTHING, added: 1, already_there: 1, bad: 1, errors })
  expect((await ask('POST', PATH, { body: { csv } })).body).toEqual({ ...unnamed, added: 1, already_there: 1 })
  const key = own.keys.read
  const streams = async (query: string) =>
    (await ask('GET', `/v1/suppressions${query}`, { key })).body.data.map(({ stream }: { stream: unknown }) => stream)
  expect([(await streams('')).sort(), await streams('?stream=bulk')]).toEqual([['bulk', null], ['bulk']])
  const { text } = await ask('GET', '/v1/suppressions/export?stream=bulk', { key })
  expect(text.split('\r\n').slice(1)).toEqual([expect.stringMatching(/^a@x.example,unsubscribe,.*,bulk$/), ''])
})

test('an import keeps a complaint about a stream that is not configured, which stops other streams too', async () => {
  const { ask, own } = await start()
  const csv =
    'email,reason,stream\na@x.example,complaint,gone\nb@x.example,complaint,Gone\nc@x.example,unsubscribe,gone\n'
  const { body } = await ask('POST', PATH, { body: { csv } })
  expect([body.added, body.bad, body.errors.map(({ number }: { number: number }) => number)]).toEqual([1, 2, [3, 4]])
  const { data } = (await ask('GET', '/v1/suppressions', { key: own.keys.read })).body
  expect(data).toMatchObject([{ email: 'a@x.example', reason: 'complaint', stream: 'gone' }])
})

test('the first hundred bad lines are named, and the import is in the audit log once', async () => {
  const api = await start()
  const { ask, own } = api
  const csv = `email\n${'nobody\n'.repeat(130)}a@x.example\n`
  const { body } = await ask('POST', PATH, { body: { csv } })
  expect(body).toMatchObject({ added: 1, bad: 130, errors_left_out: 30 })
  expect(body.errors).toHaveLength(100)
  const entries = (await ask('GET', '/v1/audit-log', { key: own.keys.admin })).body.data
  expect(entries).toMatchObject([{ action: 'suppressions_import', fields: ['csv', 'dry_run'], outcome: 'done' }])
})

test('an export goes on behind a page that found nothing within its limit of time', async () => {
  const api = await start()
  await api.ask('POST', '/v1/suppressions', { body: { email: 'a@x.example' } })
  const last = { records: [], hasMore: true, next: `sup_${'z'.repeat(26)}` }
  const list = spyOn(api.store.suppressions, 'list').mockResolvedValueOnce(last)
  expect((await exported(api)).split('\r\n')).toHaveLength(3)
  expect(list).toHaveBeenCalledTimes(2)
})

test('an export of many pages has every address once, and none of another organization', async () => {
  const api = await start()
  const { store, own, other, mintId } = api
  const of = (organizationId: string, email: string) => ({
    ...{ id: mintId('sup'), organizationId, domainId: null, stream: null, email, reason: 'manual' as const },
    ...{ messageId: null, createdAt: START, evidence: null, mode: 'live' as const },
  })
  const emails = Array.from({ length: 1_203 }, (_, at) => `a${at}@x.example`)
  await store.suppressions.addAll(
    emails.map((email) => of(own.organization.id, email)),
    START,
  )
  await store.suppressions.addAll([of(other.organization.id, 'other@x.example')], START)
  const lines = (await exported(api)).split('\r\n').slice(1, -1)
  expect(lines.map((line) => line.split(',')[0]!).toSorted()).toEqual(emails.toSorted())
})

const bad: [body: Record<string, unknown>, field: string][] = [
  [{}, 'csv'],
  [{ csv: 'email\n', suppressions: [] }, 'csv'],
  [{ csv: 'email\n', from: 'somebody' }, 'from'],
  [{ csv: 'email\n', stream: 'gone' }, 'stream'],
  [{ suppressions: Array.from({ length: 5_001 }, () => ({})) }, 'suppressions'],
  [{ suppressions: ['a@x.example'] }, 'suppressions[0]'],
]
test.each(bad)('an import of %j names the field', async (body, field) => {
  const { ask } = await start()
  const answer = await ask('POST', PATH, { body })
  expect([answer.status, answer.body.error.field]).toEqual([400, field])
})

test('CSV is accepted for imports only, in UTF-8 and with the permission', async () => {
  const { ask, own } = await start()
  const headers = { 'content-type': 'text/csv' }
  expect((await ask('POST', '/v1/suppressions', { body: 'email\n', headers })).body.error.field).toBe('Content-Type')
  const broken = await ask('POST', PATH, { body: new Uint8Array([101, 255]), headers })
  expect([broken.status, broken.body.error.message]).toEqual([400, 'The body is not valid UTF-8.'])
  expect((await ask('POST', PATH, { body: 'email\n', headers, key: own.keys.read })).status).toBe(403)
})

test('a dry run with a test key counts by the suppressions of test keys only', async () => {
  const api = await start()
  const { ask, own, addKey } = api
  const key = await addKey(own, { mode: 'test', permissions: ['manage'] })
  const rows = [{ email: 'a@x.example' }, { email: 'b@x.example', domain_id: own.domain.id }]
  const dryRun = async (suppressions: object[]) =>
    (await ask('POST', PATH, { key, body: { suppressions, dry_run: true } })).body
  expect((await ask('POST', PATH, { body: { suppressions: rows } })).body.added).toBe(2)
  expect(await dryRun(rows)).toMatchObject({ added: 2, already_there: 0 })
  expect((await ask('POST', PATH, { key, body: { suppressions: rows } })).body.added).toBe(2)
  expect(await dryRun(rows)).toMatchObject({ added: 0, already_there: 2 })
  const elsewhere = [{ email: 'b@x.example' }, { email: 'a@x.example', domain_id: own.domain.id }]
  expect(await dryRun([...elsewhere, ...elsewhere])).toMatchObject({ added: 2, already_there: 2 })
})
