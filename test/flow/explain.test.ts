import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx({
    script: {
      rcpt: (address) => {
        if (address.startsWith('gone@')) return '550 5.1.1 no such user here'
        if (address.startsWith('ptr@')) return '550 5.7.25 the sending address has no PTR record'
        return address.startsWith('full@') ? '452 4.2.2 mailbox is full' : null
      },
    },
  })
  server = await startTestServer({ remote, config: { plans: { tiny: { messages_per_month: 1 } } } })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const explain = async (id: string) => (await server.read(`/v1/messages/${id}/explain`)).recipients[0]
const words = (answer: { explanation: string[] }) => answer.explanation.join(' ')

test('a delivered mail names the server that accepted it, and the attempt', async () => {
  const { body } = await server.send({ to: 'ann@a.remote.example' })
  await server.ended(body.id)
  const recipient = await explain(body.id)
  expect(recipient).toMatchObject({ status: 'delivered', attempts: 1, mx_hosts: null, suppressions: [] })
  expect(words(recipient)).toMatch(
    /^The recipient's server \S+ accepted the message on the first attempt\. The receiving server now decides between inbox and spam\.$/,
  )
})

test('a deferred mail shows the reply, its meaning, the next attempt and the deadline', async () => {
  const { body } = await server.send({ to: 'full@b.remote.example' })
  await server.tried(body.id, 1)
  const recipient = await explain(body.id)
  expect(recipient).toMatchObject({ status: 'deferred', attempts: 1, bounce_class: 'mailbox_full' })
  expect(recipient.smtp_response).toBe('452 4.2.2 mailbox is full')
  expect(recipient.mx_hosts).toHaveLength(1)
  expect(recipient.slots.limit).toBeGreaterThan(0)
  expect(words(recipient)).toContain(`The next attempt, number 2, is due at ${recipient.next_attempt_at}.`)
  expect(words(recipient)).toContain('Postrider gives up and reports a soft bounce')
  expect(words(recipient)).toContain(`(${recipient.meaning})`)
})

test('a hard bounce says the cause in words and what stopped, and the address says why it gets no mail', async () => {
  const { body } = await server.send({ to: 'gone@c.remote.example' })
  await server.ended(body.id)
  const recipient = await explain(body.id)
  expect(recipient).toMatchObject({ status: 'bounced', bounce_class: 'no_mailbox' })
  expect(recipient).toMatchObject({ smtp_response: '550 5.1.1 no such user here', rule: 'unknown-user' })
  expect(recipient.explanation).toEqual([
    expect.stringMatching(/^The recipient's server \S+ says this mailbox doesn't exist\.$/),
    'We stopped sending to gone@c.remote.example from all your domains after this bounce.',
  ])
  expect(recipient.suppressions[0]).toMatchObject({ reason: 'hard_bounce', message_id: body.id })

  const address = await server.read('/v1/explain?to=gone@c.remote.example')
  expect(address).toMatchObject({ would_send: false, last_message: { message_id: body.id, status: 'bounced' } })
  expect(address.explanation[0]).toContain('is suppressed')

  const again = await server.send({ to: 'gone@c.remote.example' })
  const suppressed = words(await explain(again.body.id))
  expect(suppressed).toContain('was suppressed when the message was accepted')
  expect(suppressed).toContain('hard bounce (a server refused the address for good)')
  expect(suppressed).toContain('Remove the suppression to send again.')
  const { data: events } = await server.read(`/v1/messages/${again.body.id}/events`)
  expect(events).toMatchObject([{ type: 'message.suppressed', data: { reason: 'hard_bounce' } }])
})

test('a suppressed address is explained in each of its spellings', async () => {
  await server.ask('POST', '/v1/suppressions', { email: 'left@c.remote.example' })
  const { body } = await server.send({ to: 'Left@c.remote.example' })
  expect((await explain(body.id)).suppressions).toHaveLength(1)
  for (const to of ['LEFT@C.remote.example', '"left"@c.remote.example'].map(encodeURIComponent)) {
    const address = await server.read(`/v1/explain?to=${to}`)
    expect(address).toMatchObject({ would_send: false, last_message: { message_id: body.id } })
  }
})

test('a refusal about our server says what to do', async () => {
  const { body } = await server.send({ to: 'ptr@c.remote.example' })
  await server.ended(body.id)
  const recipient = await explain(body.id)
  expect(recipient).toMatchObject({ status: 'bounced', bounce_class: 'authentication' })
  expect(words(recipient)).toMatch(
    /^The recipient's server \S+ rejected the message\. .*The receiver could not authenticate the sender/,
  )
  expect(words(recipient)).toContain('`postrider doctor` to check reverse DNS')
  expect(words(recipient)).toContain('The address is not suppressed')
})

test('a new address shows where a mail would go', async () => {
  const address = await server.read('/v1/explain?to=new@d.remote.example')
  expect(address).toMatchObject({ to: 'new@d.remote.example', would_send: true, last_message: null, dns_problem: null })
  expect(address.explanation[0]).toBe(`Mail goes to ${address.mx_hosts[0]}.`)
})

test('a domain that does not exist is reported, and TLS is left out', async () => {
  server.zone.set('mail-for-nobody.test', 'MX', [{ preference: 0, exchange: '.' }])
  const address = await server.read('/v1/explain?to=x@mail-for-nobody.test')
  expect(address).toMatchObject({ would_send: false, mx_hosts: [] })
  expect(address.explanation).toHaveLength(1)
  expect(address.explanation[0]).toContain('Delivery is impossible')
})

test('a reason that stops the sender’s domain comes first, with the code that a message would get', async () => {
  const { store } = server
  const [domain] = (await store().domains.list(server.organizationId, { limit: 1, after: null })).records
  const explained = () => server.read('/v1/explain?to=new@d.remote.example')
  expect(await explained()).toMatchObject({ would_send: true, refused_with: null })

  const check = { verifiedAt: null, checkedAt: server.clock.now(), findings: domain!.findings }
  await store().domains.recordCheck(domain!.id, { ...check, status: 'failed' })
  const unverified = await explained()
  expect(unverified).toMatchObject({ would_send: false, refused_with: 'domain_not_verified' })
  expect(unverified.explanation[0]).toContain('is not verified yet')
  expect(unverified.explanation[1]).toContain('Mail goes to')
  expect((await server.send({ to: 'new@d.remote.example' })).body.error.code).toBe(unverified.refused_with)

  await store().domains.recordCheck(domain!.id, { ...check, status: 'verified' })
  await store().organizations.setPlan(server.organizationId, 'tiny')
  const usedUp = await explained()
  expect(usedUp).toMatchObject({ would_send: false, refused_with: 'quota_exceeded' })
  expect((await server.send({ to: 'new@d.remote.example' })).body.error.code).toBe(usedUp.refused_with)
  await store().organizations.setPlan(server.organizationId, 'enterprise')
  expect(await explained()).toMatchObject({ would_send: true })
})

test('scheduled, cancelled and sandbox mail is marked as such, without DNS lookups', async () => {
  const scheduled = await server.send({ to: 'ann@e.remote.example', scheduled_at: '2026-11-25T10:00:00Z' })
  expect(words(await explain(scheduled.body.id))).toContain('is scheduled for 2026-11-25T10:00:00.000Z')
  expect(words(await explain(scheduled.body.id))).not.toContain('no further attempt')
  const suppressed = await server.ask('POST', '/v1/suppressions', { email: 'ann@e.remote.example' })
  expect(words(await explain(scheduled.body.id))).toContain('is suppressed for all your domains')
  expect(words(await explain(scheduled.body.id))).toContain('While it is, Postrider makes no further attempt.')
  await server.ask('DELETE', `/v1/suppressions/${suppressed.body.email}`)
  await server.ask('POST', `/v1/messages/${scheduled.body.id}/cancel`)
  expect(words(await explain(scheduled.body.id))).toContain('was cancelled')
  const sandbox = await server.send({ to: 'bounce@e.remote.example' }, { authorization: `Bearer ${server.keys.test}` })
  const explained = await explain(sandbox.body.id)
  expect(explained).toMatchObject({ status: 'bounced', mx_hosts: null, suppressions: [] })
  expect(words(explained)).toContain('A bounce of the sandbox suppresses no address.')
})

test('the suppressions that apply to the sending domain are shown to every reader', async () => {
  const { body } = await server.send({ to: 'ann@f.remote.example' })
  await server.ended(body.id)
  const email = 'ann@f.remote.example'
  const { domain_id } = (await server.read(`/v1/messages/${body.id}`)) as { domain_id: string }
  const made = await server.ask('POST', '/v1/domains', { name: 'second.example' })
  expect(made.status).toBe(201)
  await server.ask('POST', '/v1/suppressions', { email, domain_id: made.body.id })
  expect((await explain(body.id)).suppressions).toEqual([])
  await server.ask('POST', '/v1/suppressions', { email, domain_id })
  const key = await server.ask('POST', '/v1/api-keys', {
    name: 'reader of the other domain',
    domain_id: made.body.id,
    permissions: ['admin'],
  })
  const asked = await server.ask('GET', `/v1/messages/${body.id}/explain`, undefined, {
    authorization: `Bearer ${key.body.key}`,
  })
  expect(asked.body.recipients[0].suppressions).toMatchObject([{ domain_id }])
})

test('an invalid address gets 400, an unknown message 404', async () => {
  expect((await server.ask('GET', '/v1/explain?to=nobody')).status).toBe(400)
  expect((await server.ask('GET', '/v1/explain')).status).toBe(400)
  expect((await server.ask('GET', '/v1/messages/msg_01jd5xk3m9q8r7t6v5w4z3y2x1/explain')).status).toBe(404)
})
