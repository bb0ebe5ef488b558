import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { unpackContent } from '../../src/mail/content.ts'
import { INSTALLATION } from '../../src/model/organization.ts'
import { ALL_MESSAGES } from '../storage/records.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer, untilInTime } from '../support/server.ts'
import {
  addUser,
  cookieOf,
  decoded,
  forgot as forgotAt,
  MAIL_FROM,
  PASSWORD,
  page,
  tokenIn,
} from '../support/user-mail.ts'
import { dkimResults } from '../support/verify.ts'

/** Invitations and password links by mail, with a real mail server. The organization `Shop` owns the sender's domain. */

const OPERATOR = 'olivia@boss.remote.example'
const MINUTE = 60_000
const DAY = 1440 * MINUTE
let remote: RemoteMx
let server: TestServer
const replies = { rcpt: (_: string): string | null => null }

beforeEach(async () => {
  replies.rcpt = () => null
  remote = await startRemoteMx({ script: { rcpt: (address) => replies.rcpt(address) } })
  server = await startTestServer({
    remote,
    config: {
      users: { mail_from: MAIL_FROM },
      smtp: { inbound: { listen: '127.0.0.1:0' } },
      plans: { none: { messages_per_month: 0, stored_bytes: 1 } },
    },
  })
  await addUser(server, OPERATOR, { isOperator: true })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const forgot = (email: string) => forgotAt(server, email)
const options = async () => (await page(server, 'GET', '/session/options')).body
const resetBy = (token: string, password: string) =>
  page(server, 'POST', '/session/reset', { body: { token, password } })
const owner = async (email = 'owner@shop.remote.example') => {
  await addUser(server, email, { roles: { [server.organizationId]: 'owner' } })
  const headers = { cookie: await cookieOf(server, email), 'x-organization': server.organizationId }
  return (method: string, path: string, body?: Json) =>
    page(server, method, path, { headers, ...(body === undefined ? {} : { body }) })
}
const domain = async () => (await server.store().domains.findByName(DOMAIN))!
/** Fails the domain as a check without its records does. */
const lose = async () => {
  const checkedAt = server.clock.now()
  const check = { status: 'failed' as const, verifiedAt: null, checkedAt, findings: [], nextCheckAt: checkedAt + DAY }
  await server.store().domains.recordCheck((await domain()).id, check)
}
const hidden = async () => {
  const filter = { ...ALL_MESSAGES, organizationId: INSTALLATION }
  return (await server.store().messages.list(filter, { limit: 100, after: null })).records
}

test('a forgotten password: the link arrives signed, sets a new one once, and ends all sessions', async () => {
  expect(await options()).toMatchObject({ password_links: true })
  const before = await cookieOf(server, OPERATOR)
  const { status, body } = await forgot(OPERATOR.toUpperCase())
  expect([status, body]).toEqual([202, { requested: true }])
  const [mail] = await remote.received(1)
  expect(mail!.rcptTo).toEqual([OPERATOR])
  const text = decoded(mail!)
  expect(text).toMatch(/^From: Postrider <no-reply@sender\.example>\r$/m)
  expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(text).toMatch(/^X-Auto-Response-Suppress: All\r$/m)
  expect(text).not.toMatch(/^List-Unsubscribe/m)
  expect(text).not.toMatch(/<img|\/t\/[oc]\//)
  expect(await dkimResults(mail!.raw, server.zone)).not.toBeEmpty()

  const token = tokenIn(mail!, 'reset')
  expect((await resetBy(token, 'an entirely new one')).status).toBe(200)
  expect((await resetBy(token, 'a second new one')).status).toBe(401)
  expect((await page(server, 'GET', '/session', { headers: { cookie: before } })).status).toBe(401)
  await cookieOf(server, OPERATOR, 'an entirely new one')
  const [, notice] = await remote.received(2)
  expect(decoded(notice!)).toContain(`password of the account ${OPERATOR}`)
  expect(decoded(notice!)).not.toContain('#reset=')

  const { auditLog } = server.store()
  const filter = { organizationId: null, actorId: null, resourceId: null, createdAfter: null, createdBefore: null }
  const entries = await auditLog.list({ ...filter, action: 'sessions_forgot' }, { limit: 1, after: null })
  expect(entries.records[0]).toMatchObject({
    organizationId: null,
    actor: { type: 'server', name: 'sign-in page' },
    outcome: 'done',
  })
})

// threat: sign-in-guessing
test('a link expires after an hour, and a newer one replaces it', async () => {
  await forgot(OPERATOR)
  const [earlier] = await remote.received(1)
  const first = tokenIn(earlier!, 'reset')
  await forgot(OPERATOR)
  const [, second] = (await remote.received(2)).map((mail) => tokenIn(mail, 'reset'))
  expect(first).not.toBe(second)
  expect((await resetBy(first, 'an entirely new one')).status).toBe(401)
  await server.clock.advance(60 * MINUTE)
  expect((await resetBy(second!, 'an entirely new one')).status).toBe(401)
})

// threat: sign-in-guessing
test('an unknown address gets the same response at the same time, sends nothing, and has the same limits', async () => {
  await server.store().users.update(await addUser(server, 'off@boss.remote.example'), { disabledAt: 1 })
  const answers: Json[] = []
  for (const email of [OPERATOR, 'nobody@boss.remote.example', 'off@boss.remote.example', 'no address']) {
    const dueAt = server.clock.now() + 400
    const asked = page(server, 'POST', '/session/forgot', { body: { email } })
    await until('the response to wait', () => server.clock.sleeps().includes(dueAt))
    await server.clock.advance(400)
    const { status, body } = await asked
    answers.push([status, body, server.clock.now() - dueAt])
  }
  expect(answers).toEqual(Array(4).fill([202, { requested: true }, 0]))
  const limited: Json[] = []
  for (const email of [OPERATOR, 'nobody@boss.remote.example']) {
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await forgot(email)).status)
    limited.push(statuses)
  }
  expect(limited).toEqual([
    [202, 202, 429],
    [202, 202, 429],
  ])
  await remote.received(3)
  expect(remote.mails.map(({ rcptTo }) => rcptTo[0])).toEqual([OPERATOR, OPERATOR, OPERATOR])
})

// threat: mail-to-users-read
test('members and keys of the organization that owns the domain see nothing of the mail, by any operation', async () => {
  const asOwner = await owner()
  const route = { name: 'all', match: { type: 'catch_all' }, action: { type: 'store' } }
  expect((await server.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)
  const stream = await fetch(`http://${server.running().listening.http}/v1/events/stream`, {
    headers: { authorization: `Bearer ${server.keys.live}` },
  })
  const usageBefore = await server.read('/v1/usage')
  await forgot(OPERATOR)
  const [mail] = await remote.received(1)
  const token = tokenIn(mail!, 'reset')
  const [message] = await hidden()
  await until('the delivery to be recorded', async () => (await hidden())[0]?.status === 'delivered')
  const [delivery] = await server.store().messages.deliveries(message!.id)
  const secrets = [token, OPERATOR, message!.id, delivery!.id, message!.subject, 'Set your password']

  const { paths } = await (await fetch(`http://${server.running().listening.http}/openapi.json`)).json()
  const ids: Record<string, string> = { message_id: message!.id, webhook_id: server.webhook.id, position: '1' }
  const idOf = (_: string, name: string) => ids[name] ?? message!.id
  const leaks: string[] = []
  let asked = 0
  const attack = async (method: string, path: string, body?: Json) => {
    for (const ask of [asOwner, askWithKey]) {
      const { status, body: answer } = await ask(method, path, body)
      const shown = JSON.stringify(answer)
      const found = secrets.find((secret) => shown.includes(secret) && !path.includes(secret))
      if (found !== undefined || (method !== 'GET' && status < 300)) leaks.push(`${method} ${path}: ${status} ${shown}`)
      asked++
    }
  }
  const operations = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/\{(\w+)\}/g, idOf)] as const),
  )
  const queries = ['', '?limit=100', `?to=${OPERATOR}`, `?message_id=${message!.id}`, `?q=${OPERATOR}`]
  for (const [method, path] of operations)
    if (method === 'GET' && !path.includes('stream')) for (const query of queries) await attack(method, path + query)
  for (const [method, path] of operations)
    if (method !== 'GET' && path.includes('/messages/msg_')) await attack(method, path, {})
  expect(leaks).toEqual([])
  expect(asked).toBeGreaterThan(300)
  // X-Organization with the ID of the installation, as owner and as operator.
  const operator = { cookie: await cookieOf(server, OPERATOR), 'x-organization': INSTALLATION }
  expect((await page(server, 'GET', '/v1/messages', { headers: operator })).status).toBe(400)

  // A late bounce and a complaint become events of nobody.
  const { response } = await mailTo(mail!.mailFrom, 'Subject: failure notice\r\n\r\n550 5.1.1 no such user\r\n')
  expect(response).toMatch(/^250/)
  // The stream and the webhook get an ordinary event, and nothing before it.
  const { body: ordinary } = await server.send()
  await server.ended(ordinary.id)
  await server.receiver.received(1)
  const posted = server.receiver.requests.map(({ body }) => JSON.parse(body).data.message_id)
  expect(new Set(posted)).toEqual(new Set([ordinary.id]))
  const reader = stream.body!.getReader()
  let streamed = ''
  while (!streamed.includes(ordinary.id)) streamed += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()
  expect(secrets.filter((secret) => streamed.includes(secret))).toEqual([])
  const usage = (await server.read('/v1/usage')).usage
  expect(usage.messages).toBe(usageBefore.usage.messages + 1)
  const stats = await server.read('/v1/stats')
  expect(JSON.stringify(stats)).not.toContain('user-mail')
})

const askWithKey = async (method: string, path: string, body?: Json) => {
  const answer = await fetch(`http://${server.running().listening.http}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${server.keys.live}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.text() }
}

async function mailTo(to: string, raw: string, from = '') {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const transport = createTransport({ host: host!, port: Number(port), ignoreTLS: true })
  try {
    return await transport.sendMail({ envelope: { from, to: [to] }, raw })
  } finally {
    transport.close()
  }
}

// threat: mail-to-users-read
test('no reply with a quoted link reaches a route of the organization', async () => {
  const route = { name: 'all', match: { type: 'catch_all' }, action: { type: 'store' } }
  expect((await server.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)
  const raw = 'Subject: Out of office\r\n\r\n> https://…\r\n'
  expect((await mailTo(`else@${DOMAIN}`, raw, OPERATOR)).response).toMatch(/^250/)
  for (const to of [MAIL_FROM, `No-Reply@${DOMAIN}`])
    expect(await mailTo(to, raw, OPERATOR).catch(({ response }) => response)).toMatch(/^550 5\.1\.1/)
})

// threat: mail-to-users-read
test('a link does not go to an address whose mail this server receives, and is refused when it comes back', async () => {
  const operator = await cookieOf(server, OPERATOR)
  const here = `olaf@${DOMAIN}`
  const id = await addUser(server, here, { isOperator: true })
  const shown = await page(server, 'POST', `/v1/users/${id}/reset`, { headers: { cookie: operator }, body: {} })
  expect(shown.body).toMatchObject({ mail_queued: false, mail_reason: 'received_here' })
  expect((await forgot(here)).status).toBe(202)
  expect(await hidden()).toEqual([])

  await forgot(OPERATOR)
  const [mail] = await remote.received(1)
  const asOwner = await owner()
  const match = { type: 'domain', value: DOMAIN }
  await asOwner('POST', '/v1/inbound-routes', { name: 'all', match, action: { type: 'store' } })
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.elsewhere.example', ignoreTLS: true })
  const envelope = { from: 'filter@elsewhere.example', to: `x@${DOMAIN}` }
  await expect(client.sendMail({ envelope, raw: mail!.raw })).rejects.toThrow('550 5.7.1')
  const filtered = `https://filter.example/?url=${encodeURIComponent(`http://x/#reset=${tokenIn(mail!, 'reset')}`)}`
  await expect(
    client.sendMail({ ...envelope, from: 'f@elsewhere.example', to: `x@${DOMAIN}`, html: filtered }),
  ).rejects.toThrow('550 5.7.1')
  // A link that no longer works is an ordinary text.
  expect((await resetBy(tokenIn(mail!, 'reset'), 'an entirely new one')).status).toBe(200)
  await client.sendMail({ envelope, raw: mail!.raw })
  client.close()
  expect((await server.read('/v1/inbound-messages')).data).toHaveLength(1)
})

// threat: mail-to-users-read
test('the token is nowhere in the data directory', async () => {
  await forgot(OPERATOR)
  const token = tokenIn((await remote.received(1))[0]!, 'reset')
  await until('the delivery to be recorded', async () => (await hidden())[0]?.status === 'delivered')
  const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  expect(files.length).toBeGreaterThan(0)
  for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name)).includes(token)).toBe(false)
  const content = await server.store().messages.content((await hidden())[0]!.id)
  expect(unpackContent(content!).text).toContain('#reset=[sign-in-token]')
})

test('an invitation is sent and shows no link to an owner; the person joins by the mail', async () => {
  await server.store().organizations.setPlan(server.organizationId, 'none')
  const asOwner = await owner()
  const invited = await asOwner('POST', '/v1/invitations', { email: 'ann@one.remote.example', role: 'support' })
  expect([invited.status, invited.body]).toMatchObject([201, { mail_queued: true, mail_reason: null }])
  const [mail] = await remote.received(1)
  const text = decoded(mail!)
  expect(text).toContain('“owner” invited you to “Shop” on 127.0.0.1')
  expect(text).toContain('Your role will be support.')
  const token = tokenIn(mail!, 'invitation')
  expect(invited.body.url).toBeNull()
  // An operator sees another link, which does not prove that the address is Ann's.
  const headers = { cookie: await cookieOf(server, OPERATOR), 'x-organization': server.organizationId }
  const shown = await page(server, 'POST', '/v1/invitations', {
    headers,
    body: { email: 'bob@one.remote.example', role: 'viewer' },
  })
  expect(shown.body.url).toMatch(/#invitation=[0-9a-f]{40}$/)
  expect(decoded((await remote.received(2))[1]!)).not.toContain(/[0-9a-f]{40}$/.exec(shown.body.url)![0])
  const body = { token, name: 'Ann', password: PASSWORD }
  expect((await page(server, 'POST', '/session/invitation', { body })).status).toBe(200)
  await cookieOf(server, 'ann@one.remote.example')
  const ann = await server.store().users.findByEmail('ann@one.remote.example')
  expect(ann).toMatchObject({ emailVerifiedAt: expect.any(Number), invitedTo: server.organizationId })
})

// threat: invitation-bomb
test('an owner sends three invitations a day to an address, and fifty in all', async () => {
  const asOwner = await owner()
  const invite = async (email: string) => {
    const { body } = await asOwner('POST', '/v1/invitations', { email, role: 'viewer' })
    expect(body.url).toBeNull()
    return body.mail_reason
  }
  const reasons: Json[] = []
  for (let n = 0; n < 4; n++) reasons.push(await invite(n % 2 ? 'Ann@one.remote.example' : 'ann@one.remote.example'))
  expect(reasons).toEqual([null, null, null, 'limit_reached'])
  for (let n = 3; n < 50; n++) expect(await invite(`a${n}@one.remote.example`)).toBeNull()
  expect(await invite('bob@one.remote.example')).toBe('limit_reached')
  await server.stop()
  await server.clock.advance(8 * 60 * MINUTE)
  await server.reopen()
  expect(await invite('ann@one.remote.example')).toBeNull()
})

test('an address whose mail bounced gets no more until an operator makes a new link', async () => {
  replies.rcpt = () => '550 5.1.1 no such user'
  const asOwner = await owner()
  const invite = async () =>
    (await asOwner('POST', '/v1/invitations', { email: 'gone@one.remote.example', role: 'viewer' })).body
  expect(await invite()).toMatchObject({ mail_queued: true })
  await until('the bounce', async () => (await hidden())[0]?.status === 'bounced')
  expect(await invite()).toMatchObject({ mail_queued: false, mail_reason: 'suppressed' })
  expect((await server.read('/v1/suppressions')).data).toEqual([])

  // The suppressions of the organization do not stop mail to its operator.
  await server.ask('POST', '/v1/suppressions', { email: OPERATOR })
  replies.rcpt = () => null
  await forgot(OPERATOR)
  await remote.received(1)

  const headers = { cookie: await cookieOf(server, OPERATOR), 'x-organization': server.organizationId }
  const body = { email: 'gone@one.remote.example', role: 'viewer' }
  const again = await page(server, 'POST', '/v1/invitations', { headers, body })
  expect(again.body).toMatchObject({ mail_queued: true })
  await remote.received(2)
})

test('a mail that waits is sent after a restart, with the same link', async () => {
  replies.rcpt = () => '451 4.7.1 later'
  const operator = await cookieOf(server, OPERATOR)
  const id = await addUser(server, 'ann@one.remote.example')
  const { body } = await page(server, 'POST', `/v1/users/${id}/reset`, { headers: { cookie: operator }, body: {} })
  expect(body).toMatchObject({ mail_queued: true, mail_reason: null })
  await until('the first attempt', async () => (await hidden())[0]?.status === 'deferred')
  await server.stop()
  replies.rcpt = () => null
  await server.reopen()
  const [delivery] = await server.store().messages.deliveries((await hidden())[0]!.id)
  await server.clock.advance(Math.max(0, delivery!.nextAttemptAt! - server.clock.now()))
  const [mail] = await remote.received(1)
  const token = tokenIn(mail!, 'reset')
  expect(body.url).not.toContain(token)
  expect((await resetBy(token, 'an entirely new one')).status).toBe(200)
})

test('a domain that is no longer verified sends no mail: the link is shown, and what waits is not sent', async () => {
  replies.rcpt = () => '451 4.7.1 later'
  const asOwner = await owner()
  await forgot(OPERATOR)
  await until('the first attempt', async () => (await hidden())[0]?.status === 'deferred')
  await lose()
  expect(await options()).toMatchObject({ password_links: false })
  expect((await forgot(OPERATOR)).status).toBe(422)
  const invited = await asOwner('POST', '/v1/invitations', { email: 'ann@one.remote.example', role: 'viewer' })
  expect(invited.body).toMatchObject({ mail_queued: false, mail_reason: 'domain_not_verified' })
  expect(invited.body.url).toContain('#invitation=')
  replies.rcpt = () => null
  await untilInTime(server.clock, 'the end', async () => (await hidden())[0]?.status === 'bounced')
  expect(remote.mails).toEqual([])
})

test('mail that waits is not sent once its domain was removed', async () => {
  replies.rcpt = () => '451 4.7.1 later'
  await forgot(OPERATOR)
  await until('the first attempt', async () => (await hidden())[0]?.status === 'deferred')
  expect((await server.ask('DELETE', `/v1/domains/${(await domain()).id}`)).status).toBe(200)
  replies.rcpt = () => null
  await untilInTime(server.clock, 'the end', async () => (await hidden())[0]?.status === 'bounced')
  expect(remote.mails).toEqual([])
})

test('the mail is removed after seven days', async () => {
  await forgot(OPERATOR)
  await until('the delivery to be recorded', async () => (await hidden())[0]?.status === 'delivered')
  for (const days of [6, 2]) {
    expect((await hidden()).length).toBe(1)
    await server.stop()
    await server.clock.advance(days * DAY)
    await server.reopen()
    await server.clock.advance(10 * MINUTE)
  }
  await until('its removal', async () => (await hidden()).length === 0)
})

describeWithPostgres('on two nodes with PostgreSQL', () => {
  test('one node takes the request, any node sends the mail and accepts the link, and limits are shared', async () => {
    const postgres = await startPostgres()
    await server.close()
    server = await startTestServer({
      remote,
      config: { users: { mail_from: MAIL_FROM }, database: { url: await postgres.createDatabase('users') } },
    })
    try {
      await addUser(server, OPERATOR, { isOperator: true })
      const node = await server.addNode()
      const other = { ...server, running: () => node.server }
      await forgotAt(other, OPERATOR)
      const [mail] = await remote.received(1)
      const body = { token: tokenIn(mail!, 'reset'), password: 'an entirely new one' }
      expect((await page(server, 'POST', '/session/reset', { body })).status).toBe(200)
      await remote.received(2)
      const ask = [forgot, (email: string) => forgotAt(other, email)]
      const statuses = []
      for (const each of [...ask, ...ask]) statuses.push((await each(OPERATOR)).status)
      expect(statuses).toEqual([202, 202, 429, 429])
      await remote.received(4)
      expect((await hidden()).length).toBe(4)
      expect((await server.read('/v1/messages')).data).toEqual([])
      expect((await server.read('/v1/events')).data).toEqual([])
    } finally {
      await server.close()
      await postgres.stop()
      server = await startTestServer({ remote })
    }
  })
})
