import { afterEach, expect, test } from 'bun:test'
import { ERASURES_TOGETHER } from '../../src/model/erasure.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

test('an erasure begins once for an address in any case, and its record does not contain it', async () => {
  made = await createTestApi()
  const key = made.own.keys.admin
  const ask: TestApi['ask'] = (method, path, options = {}) => made!.ask(method, path, { key, ...options })
  const first = await ask('POST', '/v1/recipients/erase', { body: { email: 'Ann+News@Example.ORG' } })
  expect([first.status, first.body.status]).toEqual([202, 'running'])
  expect(first.body.address_hash).toMatch(/^[0-9a-f]{64}$/)
  expect(first.body.remaining).toEqual([])
  expect(JSON.stringify(first.body)).not.toContain('example.org')
  const second = await ask('POST', '/v1/recipients/erase', { body: { email: 'ann+news@example.org' } })
  expect(second.body.id).toBe(first.body.id)
  expect((await ask('GET', `/v1/recipients/erasures/${first.body.id}`)).body).toEqual(first.body)
  const log = await ask('GET', '/v1/audit-log')
  expect(log.body.data[0]).toMatchObject({ action: 'recipients_erase' })
  expect(JSON.stringify(log.body).toLowerCase()).not.toContain('example.org')
})

test('a list has the erasures of the organization alone, newest first, running and finished', async () => {
  made = await createTestApi()
  const key = made.own.keys.admin
  const begin = async (email: string, by = key) =>
    (await made!.ask('POST', '/v1/recipients/erase', { key: by, body: { email } })).body
  const first = await begin('ann@dest.example')
  while (await made.store.erasures.step(made.clock.now(), () => false));
  await made.clock.advance(1_000)
  const second = await begin('ben@dest.example')
  await begin('ann@dest.example', made.other.keys.admin)
  const page = await made.ask('GET', '/v1/recipients/erasures?limit=1', { key })
  expect(page.body).toMatchObject({ data: [second], has_more: true })
  const rest = await made.ask('GET', `/v1/recipients/erasures?cursor=${page.body.next_cursor}`, { key })
  const finished_at = first.created_at
  expect(rest.body).toEqual({ data: [{ ...first, status: 'done', finished_at }], has_more: false, next_cursor: null })
})

test('an organization with twenty erasures running gets no more until one has ended', async () => {
  made = await createTestApi()
  const key = made.own.keys.admin
  for (let at = 0; at < ERASURES_TOGETHER; at++) {
    const begun = await made.ask('POST', '/v1/recipients/erase', { key, body: { email: `r${at}@dest.example` } })
    expect(begun.status).toBe(202)
  }
  const refused = await made.ask('POST', '/v1/recipients/erase', { key, body: { email: 'more@dest.example' } })
  expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_state'])
  const theirs = await made.ask('POST', '/v1/recipients/erase', {
    key: made.other.keys.admin,
    body: { email: 'more@dest.example' },
  })
  expect(theirs.status).toBe(202)
})
