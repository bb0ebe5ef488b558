import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTransport, type SendMailOptions as Mail } from 'nodemailer'
import { unpackContent } from '../../src/mail/content.ts'
import { INSTALLATION } from '../../src/model/organization.ts'
import { ALL_MESSAGES } from '../storage/records.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'
import { addUser, cookieOf, page } from '../support/user-mail.ts'
import { foundInFiles } from '../threats/files.ts'

/** Inbound mail by SMTP, a forward route and a mail server: who may be a target, and what a forward counts as. */

const TARGET = 'ann@desk.remote.example'
let remote: RemoteMx
let server: TestServer

beforeEach(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({
    remote,
    config: {
      smtp: { inbound: { listen: '127.0.0.1:0' } },
      sending: { require_verified_domain: true },
      quality: { stop_sending: true },
      plans: { small: { messages_per_month: 100, forwards_per_day: 25, requests_per_minute: -1 } },
    },
  })
  await server.store().organizations.setPlan(server.organizationId, 'small')
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const forwardRoute = (...to: string[]) => ({
  name: 'desk',
  match: { type: 'address', value: `desk@${DOMAIN}` },
  action: { type: 'forward', config: { to } },
})
const create = async (...to: string[]): Promise<Json> => {
  const { status, body, text } = await server.ask('POST', '/v1/inbound-routes', forwardRoute(...to))
  if (status !== 201) throw new Error(text)
  return body
}
const targetsOf = async ({ id }: Json): Promise<Json[]> =>
  (await server.read(`/v1/inbound-routes/${id}`)).action.config.to

/** From outside; rejects with the server's reply. */
const mailIn = (subject = 'A question', to = `desk@${DOMAIN}`) =>
  deliver({ from: 'Bob <bob@author.example>', to, subject, text: 'Hello?' })
const sendIn = (raw: string) => deliver({ envelope: { from: 'bob@author.example', to: `desk@${DOMAIN}` }, raw })
async function deliver(mail: Mail): Promise<void> {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  try {
    await client.sendMail(mail)
  } finally {
    client.close()
  }
}

/** The links in a confirmation mail, as paths. */
function linksIn(raw: string): { confirm: string; stop: string } {
  const text = raw.replace(/=\r\n/g, '').replace(/=3D/gi, '=')
  const path = (kind: string) => new RegExp(`/forward/${kind}/[\\w.-]+`).exec(text)?.[0] ?? ''
  return { confirm: path('c'), stop: path('s') }
}

const open = async (path: string, method = 'GET') => {
  const response = await fetch(`http://${server.running().listening.http}${path}`, { method })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
const usage = async () => (await server.read('/v1/usage')).usage

// threat: forward-target-confirmed
test('a route forwards to a target elsewhere only after its owner pressed the button behind the link', async () => {
  const route = await create(TARGET)
  expect(route.action.config.to).toEqual([{ email: TARGET, status: 'pending', is_stopped: false }])
  const [asking] = await remote.received(1)
  expect(asking!.rcptTo).toEqual([TARGET])
  expect(asking!.raw.toString()).toMatch(/^DKIM-Signature:/m)
  const { confirm, stop } = linksIn(asking!.raw.toString())

  await mailIn('before')
  const [kept] = (await server.read('/v1/inbound-messages')).data
  expect(kept).toMatchObject({
    subject: 'before',
    status: 'stored',
    forwarded_as: null,
    not_forwarded: [{ email: TARGET, reason: 'pending_confirmation' }],
  })

  // A link scanner opens all of them.
  const asks = await open(confirm)
  expect([asks.status, asks.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(asks.text).toContain(`<b>Shop</b> asks: forward mail for <b>desk@${DOMAIN}</b>`)
  expect((await open(stop)).status).toBe(200)
  expect((await open(confirm, 'HEAD')).status).toBeLessThan(500)
  expect(await targetsOf(route)).toMatchObject([{ status: 'pending' }])

  for (let twice = 0; twice < 2; twice++) {
    const done = await open(confirm, 'POST')
    expect([done.status, done.text.includes(stop)]).toEqual([200, true])
  }
  expect(await targetsOf(route)).toMatchObject([{ status: 'confirmed' }])
  await mailIn('after')
  const [, forwarded] = await remote.received(2)
  expect(forwarded!.rcptTo).toEqual([TARGET])
  expect(forwarded!.raw.toString()).toContain('Subject: after')

  expect((await open(stop, 'POST')).status).toBe(200)
  expect(await targetsOf(route)).toEqual([{ email: TARGET, status: 'pending', is_stopped: true }])
  await mailIn('too late')
  const [late] = (await server.read('/v1/inbound-messages')).data
  expect(late).toMatchObject({ status: 'stored', not_forwarded: [{ email: TARGET, reason: 'stopped' }] })
  const again = await server.ask('POST', `/v1/inbound-routes/${route.id}/confirmations`, {})
  expect([again.status, again.body.data]).toEqual([
    202,
    [{ email: TARGET, status: 'pending', sent: false, reason: 'stopped', url: null }],
  ])
})

// threat: forward-confirmed-by-tenant
test('the organization that asks cannot read the link, nor a reply that quotes it', async () => {
  await create(TARGET)
  const [asking] = await remote.received(1)
  expect((await server.read('/v1/messages')).data).toEqual([])
  expect((await server.read('/v1/events')).data).toEqual([])
  const sender = /^From: .*<(.+)>/m.exec(asking!.raw.toString())![1]!
  await server.ask('POST', '/v1/inbound-routes', {
    name: 'all',
    match: { type: 'domain', value: DOMAIN },
    action: { type: 'store' },
  })
  await expect(mailIn('Re: Confirm mail forwarding', sender)).rejects.toThrow('550 5.1.1')
})

// threat: forward-confirmed-by-tenant
test('the stored confirmation has neither of its links, which exist at its delivery only', async () => {
  await create(TARGET)
  const [asking] = await remote.received(1)
  const { confirm, stop } = linksIn(asking!.raw.toString())
  expect([(await open(confirm)).status, (await open(stop)).status]).toEqual([200, 200])
  const filter = { ...ALL_MESSAGES, organizationId: INSTALLATION }
  const [stored] = (await server.store().messages.list(filter, { limit: 1, after: null })).records
  const { text } = unpackContent((await server.store().messages.content(stored!.id))!)
  expect(text).toContain('[confirm-link]')
  const tags = [confirm, stop].map((link) => link.slice(link.indexOf('.') + 1))
  for (const where of [text, JSON.stringify(stored)]) expect(tags.filter((tag) => where?.includes(tag))).toEqual([])
  expect(foundInFiles(server.dataDir, tags)).toEqual([])
})

// threat: forward-confirmed-by-tenant
test('a target whose mail this server receives for another organization gets no link; the operator passes it on', async () => {
  const other = 'org_other'
  const { store, clock } = server
  await store().organizations.create({ id: other, name: 'Other', plan: 'small', createdAt: clock.now() })
  const [own] = (await store().domains.list(server.organizationId, { limit: 1, after: null })).records
  const theirs = {
    ...own!,
    id: 'dom_other',
    organizationId: other,
    name: 'other.example',
    returnPathHost: 'b.other.example',
  }
  expect(await store().domains.create(theirs as never, -1)).toBe('created')
  const route = await create('ann@other.example')
  const path = `/v1/inbound-routes/${route.id}/confirmations`
  const asked = { email: 'ann@other.example', status: 'pending', sent: false, reason: 'received_here' }
  expect((await server.ask('POST', path, {})).body.data).toEqual([{ ...asked, url: null }])
  await addUser(server, 'olivia@boss.remote.example', { isOperator: true })
  const cookie = await cookieOf(server, 'olivia@boss.remote.example')
  const headers = { cookie, 'x-organization': server.organizationId }
  const [{ url }] = (await page(server, 'POST', path, { headers, body: {} })).body.data
  expect((await open(new URL(url).pathname, 'POST')).status).toBe(200)
  expect(await targetsOf(route)).toMatchObject([{ status: 'confirmed' }])
  expect(remote.mails).toEqual([])
})

// threat: secret-link-comes-back
test.each([
  ['as it was sent', (raw: string) => raw],
  [
    'as an attachment',
    (raw: string) => `From: a@b.example\r\nMIME-Version: 1.0\r\nContent-Type: message/rfc822\r\n\r\n${raw}`,
  ],
])('a mail with a link of ours is refused when it comes back %s', async (_, changed) => {
  await create(TARGET)
  const [asking] = await remote.received(1)
  await expect(sendIn(changed(asking!.raw.toString()))).rejects.toThrow('550 5.7.1')
  expect((await server.read('/v1/inbound-messages')).data).toEqual([])
})

test('a mail that quotes only the link which stops a forward is accepted', async () => {
  await create(TARGET)
  const [asking] = await remote.received(1)
  const { stop } = linksIn(asking!.raw.toString())
  await sendIn(`From: bob@author.example\r\nSubject: Stop?\r\n\r\nShall I open https://mail.example${stop}\r\n`)
  expect((await server.read('/v1/inbound-messages')).data).toHaveLength(1)
})

test('a link confirms nothing when it is forged, for another address, expired, or its route is gone', async () => {
  const route = await create(TARGET)
  const [asking] = await remote.received(1)
  const { confirm, stop } = linksIn(asking!.raw.toString())
  const [facts, tag] = confirm.slice('/forward/c/'.length).split('.')
  const others = Buffer.from(Buffer.from(facts!, 'base64url').toString().replace('ann@', 'eve@')).toString('base64url')
  for (const wrong of [
    `/forward/c/${others}.${tag}`,
    stop.replace('/s/', '/c/'),
    `/forward/c/${facts}.${'A'.repeat(22)}`,
    '/forward/c/',
    '/forward/x',
  ]) {
    expect([(await open(wrong)).status, (await open(wrong, 'POST')).status]).toEqual([404, 404])
  }
  // The route now has another target.
  await server.ask('PATCH', `/v1/inbound-routes/${route.id}`, { action: forwardRoute(`eve@${DOMAIN}`).action })
  expect((await open(confirm, 'POST')).status).toBe(404)
  await server.ask('PATCH', `/v1/inbound-routes/${route.id}`, { action: forwardRoute(TARGET).action })
  expect(await targetsOf(route)).toMatchObject([{ status: 'pending' }])
})

// threat: forward-confirmation-bomb
test('creating and changing routes does not send an address more than three confirmation mails a day', async () => {
  const route = await create(TARGET)
  for (let n = 0; n < 5; n++) {
    await server.ask('PATCH', `/v1/inbound-routes/${route.id}`, { action: forwardRoute(TARGET).action })
  }
  const last = await server.ask('POST', `/v1/inbound-routes/${route.id}/confirmations`, { email: TARGET.toUpperCase() })
  expect(last.body.data).toEqual([{ email: TARGET, status: 'pending', sent: false, reason: 'too_many', url: null }])
  expect(await remote.received(3)).toHaveLength(3)
  // Mail of the installation.
  expect((await usage()).messages).toBe(0)
  const other = await server.ask('POST', `/v1/inbound-routes/${route.id}/confirmations`, { email: 'no@x.example' })
  expect([other.status, other.body.error.field]).toEqual([400, 'email'])
})

test('a target at a verified domain of the organization needs no confirmation, one at an unproved claim does', async () => {
  const claimed = await server.ask('POST', '/v1/domains', { name: 'claimed.example' })
  expect(claimed.status).toBeLessThan(500)
  const route = await create(`boss@${DOMAIN}`, 'boss@claimed.example')
  expect(await targetsOf(route)).toMatchObject([{ status: 'confirmed' }, { status: 'pending' }])
})

// threat: forward-counts-as-sending
test('three mails to a route with ten targets count as thirty in the month and the day, and end at the limit', async () => {
  const targets = Array.from({ length: 10 }, (_, at) => `t${at}@desk.remote.example`)
  const route = await create(...targets)
  for (const email of targets) {
    await server.store().forwardTargets.set(server.organizationId, email, 'confirmed', server.clock.now())
  }
  const before = (await usage()).messages
  await mailIn('one')
  await mailIn('two')
  expect(await usage()).toMatchObject({ messages: before + 20, forwards: 20 })
  await expect(mailIn('three')).rejects.toThrow('452 4.7.1')
  expect(await usage()).toMatchObject({ messages: before + 20, forwards: 20 })
  expect((await server.read('/v1/inbound-messages')).data).toHaveLength(2)
  expect(route.action.config.to).toHaveLength(10)
})

// threat: forward-needs-owned-domain
test('a route of a domain that lost its proof forwards nothing, and the record says why', async () => {
  await create(TARGET)
  await server.store().forwardTargets.set(server.organizationId, TARGET, 'confirmed', server.clock.now())
  const [domain] = (await server.store().domains.list(server.organizationId, { limit: 1, after: null })).records
  const at = server.clock.now()
  await server
    .store()
    .domains.recordCheck(domain!.id, { status: 'failed', verifiedAt: null, checkedAt: at, findings: [] })
  const refused = await mailIn().catch((error: Error) => error.message)
  const kept = (await server.read('/v1/inbound-messages')).data
  // Refused at RCPT, where unproved domains receive nothing; otherwise kept with the reason.
  if (refused === undefined) {
    expect(kept).toMatchObject([{ not_forwarded: [{ reason: 'domain_not_verified' }], forwarded_as: null }])
  } else expect([refused.includes('550'), kept]).toEqual([true, []])
})
