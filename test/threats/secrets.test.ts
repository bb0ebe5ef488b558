import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIRST_USER } from '../../src/model/user.ts'
import { createLog } from '../../src/os/log.ts'
import { cookieToken, hashToken, SESSION_COOKIE } from '../../src/web/api/sessions.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { foundInFiles } from './files.ts'

/** Searches disk, log and responses for secrets. */

let remote: RawMx
let server: TestServer
afterEach(async () => {
  await server.close()
  await remote.stop()
})

// threat: secrets-exposed
test('no secret appears in a log, a later response, an error or a file', async () => {
  remote = await startRawMx({})
  const lines: string[] = []
  const clock = { now: () => 0, sleep: async () => {} }
  server = await startTestServer({
    remote,
    log: createLog({ clock, level: 'debug', format: 'json', write: (line) => void lines.push(line) }),
  })
  const domain = (await server.read('/v1/domains')).data[0]
  const once = (key: string) => ({ 'idempotency-key': key })
  const made = async (path: string, body: object) => (await server.ask('POST', path, body, once(path))).body
  const key = await made('/v1/api-keys', { name: 'k', domain_id: domain.id, permissions: ['send'] })
  const rotated = await made(`/v1/api-keys/${key.id}/rotate`, {})
  const changed = await made(`/v1/webhooks/${server.webhook.id}/rotate-secret`, {})
  const route = await made('/v1/inbound-routes', {
    name: 'all',
    match: { type: 'catch_all' },
    action: { type: 'webhook', config: { url: 'https://hooks.example.com/in' } },
  })
  const link = 'L'.repeat(40)
  const soon = server.clock.now() + 60_000
  await server.store().sessions.addLink({
    tokenHash: hashToken(link),
    userId: FIRST_USER,
    createdAt: server.clock.now(),
    expiresAt: soon,
  })
  const operator = { 'x-operator': '1', authorization: '' }
  const opened = await server.ask('POST', '/session', { token: link }, operator)
  const session = cookieToken(opened.headers.get('set-cookie'), true)!
  const password = 'canary of a password, long'
  const cookie = { ...operator, cookie: `${SESSION_COOKIE}=${session}` }
  expect((await server.ask('POST', '/session/password', { password }, cookie)).status).toBe(200)
  await server.ask('POST', '/session', { token: link }, operator)
  const stored = (await server.store().domains.get(domain.id))!
  const secrets = [
    ...[link, session, password],
    ...[server.keys.live, server.keys.test, key.key, rotated.key, server.webhook.secret, changed.secret, route.secret],
    // A line of each private key, and the encryption key.
    ...stored.dkim.map(({ privateKeyPem }) => privateKeyPem.split('\n')[1]!),
    readFileSync(join(server.dataDir, 'seal.key'), 'latin1').trim(),
  ]
  expect(secrets.every((secret) => secret.length > 25)).toBe(true)

  const { body } = await server.send()
  await server.ended(body.id)
  const answers: string[] = []
  const ask = async (method: string, path: string, given?: unknown, headers = {}) => {
    answers.push((await server.ask(method, path, given, headers)).text)
  }
  const lists = ['api-keys', 'webhooks', 'inbound-routes', 'domains', 'events', 'messages', 'audit-log', 'usage']
  for (const list of lists) await ask('GET', `/v1/${list}`)
  for (const path of [
    `messages/${body.id}/attempts`,
    `messages/${body.id}/content?part=raw`,
    `webhooks/${server.webhook.id}`,
  ])
    await ask('GET', `/v1/${path}`)
  await ask('GET', `/v1/webhooks/${server.webhook.id}/deliveries`)
  await ask('POST', `/v1/domains/${domain.id}/verify`)
  await ask('GET', '/openapi.json')
  for (const path of ['session', 'v1/sessions', 'v1/organizations']) {
    const { status, text } = await server.ask('GET', `/${path}`, undefined, cookie)
    expect([path, status]).toEqual([path, 200])
    answers.push(text)
  }
  // A key in the wrong place: in the path, the query, a field, and as another scheme.
  await ask('GET', `/v1/messages/${key.key}`)
  await ask('GET', `/v1/messages?cursor=${key.key}`)
  await ask('POST', '/v1/messages/send', { from: 1, to: [] })
  await ask('GET', '/v1/usage', undefined, { authorization: `Basic ${rotated.key}` })
  await ask('GET', '/v1/usage', undefined, { authorization: `Bearer ${key.key}x` })
  await server.ask('DELETE', `/v1/webhooks/${server.webhook.id}`)

  expect(lines.length).toBeGreaterThan(20)
  const wherever = (texts: string[]) => secrets.filter((secret) => texts.some((text) => text.includes(secret)))
  expect(wherever(lines)).toEqual([])
  expect(wherever(answers)).toEqual([])
  expect(foundInFiles(server.dataDir, secrets)).toEqual([])
  expect(foundInFiles(server.dataDir, [key.prefix]).length).toBeGreaterThan(0) // keys are expected there
})

// threat: revoked-keys
test('a deleted key stops working at once on every listener', async () => {
  remote = await startRawMx({})
  server = await startTestServer({ remote })
  const { id: domain_id } = (await server.read('/v1/domains')).data[0]
  const { body } = await server.ask('POST', '/v1/api-keys', { name: 'k', domain_id, permissions: ['read'] })
  const withIt = async () =>
    (await server.ask('GET', '/v1/usage', undefined, { authorization: `Bearer ${body.key}` })).status
  expect(await withIt()).toBe(200)
  await server.ask('DELETE', `/v1/api-keys/${body.id}`)
  expect(await withIt()).toBe(401)
})
