import { afterEach, beforeEach, expect, test } from 'bun:test'
import { blockedTarget, isBlockedBy, MOST_BLOCKED_LINKS } from '../../src/model/blocked-link.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'

let api: TestApi
let operator: Record<string, string>
beforeEach(async () => {
  api = await createTestApi({ hasSessions: true })
  operator = { ...(await api.signIn()), 'x-operator': '1' }
})
afterEach(() => api.close())

const asOperator = (method: string, path: string, body?: unknown) =>
  api.ask(method, path, { key: null, headers: operator, body })

test('the operator blocks a target, lists it and unblocks it; the audit log has both', async () => {
  const made = await asOperator('POST', '/v1/blocked-links', { target: 'Phishing.Example.', reason: 'reported' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ kind: 'host', target: 'phishing.example', reason: 'reported' })
  expect((await asOperator('GET', '/v1/blocked-links')).body.data).toEqual([made.body])
  expect(api.store.snapshot.isLinkBlocked('http://x.phishing.example:8080/a')).toBe(true)
  const again = await asOperator('POST', '/v1/blocked-links', { target: 'PHISHING.example', reason: 'again' })
  expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
  expect((await asOperator('DELETE', `/v1/blocked-links/${made.body.id}`)).status).toBe(200)
  expect(api.store.snapshot.isLinkBlocked('http://phishing.example/')).toBe(false)
  const all = { organizationId: null, actorId: null, action: null, resourceId: null }
  const { records } = await api.store.auditLog.list(
    { ...all, createdAfter: null, createdBefore: null },
    { limit: 9, after: null },
  )
  const reported = records.map(({ action, resourceId, outcome }) => [action, resourceId, outcome])
  expect(reported).toContainEqual(['blocked_links_create', made.body.id, 'done'])
  expect(reported).toContainEqual(['blocked_links_delete', made.body.id, 'done'])
})

test('a key can do none of it, and an invalid target gets 400', async () => {
  const body = { target: 'phishing.example', reason: 'x' }
  expect((await api.ask('POST', '/v1/blocked-links', { key: api.own.keys.admin, body })).status).toBe(403)
  expect((await api.ask('GET', '/v1/blocked-links', { key: api.own.keys.admin })).status).toBe(403)
  for (const target of [
    '',
    'a b',
    'ftp://x.example/',
    'javascript:alert(1)',
    'x.example/path',
    'https://',
    'x.example:81',
    `https://x.example/${'é'.repeat(400)}`, // 2,400 characters with percent-encoding
  ]) {
    const { status, body: answer } = await asOperator('POST', '/v1/blocked-links', { target, reason: 'x' })
    expect([target, status, answer.error?.field]).toEqual([target, 400, 'target'])
  }
})

test('the number of blocked targets is limited', async () => {
  for (let at = 0; at < MOST_BLOCKED_LINKS; at++) {
    const link = {
      id: api.mintId('blk'),
      kind: 'host' as const,
      value: `h${at}.example`,
      reason: 'x',
      createdAt: START,
    }
    expect(await api.store.blockedLinks.add(link)).toBe('added')
  }
  const { status, body } = await asOperator('POST', '/v1/blocked-links', { target: 'one.more.example', reason: 'x' })
  expect([status, body.error.code]).toEqual([422, 'quota_exceeded'])
})

test.each([
  ['evil.example', 'https://evil.example/', true],
  ['evil.example', 'http://user:pw@EVIL.example.:8443/x?y#z', true],
  ['evil.example', 'https://a.b.evil.example/', true],
  ['evil.example', 'https://notevil.example/', false],
  ['evil.example', 'https://evil.example.com/', false],
  ['evil.example', 'https://good.example/?u=https://evil.example/', false],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['192.0.2.1', 'https://3221225985/', true],
  ['https://site.example/bad', 'http://site.example/bad', true],
  ['https://site.example/bad', 'https://site.example/bad/more', true],
  ['https://site.example/bad', 'https://site.example/bad?x=1#y', true],
  ['https://site.example/bad', 'https://site.example/badly', false],
  ['https://site.example/bad', 'https://site.example/good', false],
  ['https://site.example/bad', 'https://site.example/./x/../bad', true],
  ['https://site.example:8443/', 'https://site.example:8443/any', true],
  ['https://site.example:8443/', 'https://site.example/any', false],
  ['https://site.example/?id=1', 'https://site.example/?id=1', true],
  ['https://site.example/?id=1', 'https://site.example/?id=2', false],
])('%s and a click to %s: %p', (target, url, expected) => {
  expect(isBlockedBy(url, blockedTarget(target)!)).toBe(expected)
})
