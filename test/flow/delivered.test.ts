import { afterEach, expect, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { createVerp } from '../../src/mail/verp.ts'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { ANY } from '../support/claim.ts'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer } from '../support/server.ts'
import { customerAccepts, dkimResults, standardAccepts } from '../support/verify.ts'

/** Accepted → delivered → published. */

const NOON = '2026-11-21T12:00:00.000Z'

let remote: RemoteMx
let server: TestServer

async function open(options: Parameters<typeof startRemoteMx>[0] = {}) {
  remote = await startRemoteMx(options)
  server = await startTestServer({ remote })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

test('a message is accepted, delivered, published and shown, and all records agree', async () => {
  await open()
  const { status, body: answer } = await server.send()
  expect(status).toBe(202)
  expect(answer).toEqual({
    id: expect.stringMatching(/^msg_/),
    message_id: answer.id,
    status: 'queued',
    created_at: NOON,
    recipients: [{ email: 'ann@one.remote.example', type: 'to', status: 'queued' }],
  })

  const message = await server.ended(answer.id)
  expect(message.status).toBe('delivered')
  expect(message.recipients).toMatchObject([
    { attempts: 1, delivered_at: NOON, smtp_response: '250 2.0.0 Ok: queued', mx_host: 'mx.hosts.example', tls: null },
  ])
  const { data: attempts } = await server.read(`/v1/messages/${answer.id}/attempts`)
  expect(attempts).toMatchObject([
    { recipient: 'ann@one.remote.example', number: 1, outcome: 'delivered', mx_ip: '127.0.0.1', tls_version: null },
  ])
  expect(attempts[0].transcript).toContain('RCPT TO:<ann@one.remote.example>')
  expect(attempts[0].transcript).not.toContain('Hi Ann')

  await server.receiver.received(1)
  const [request] = server.receiver.requests
  expect(request!.headers).toMatchObject({ 'x-service-delivery-attempt': '1', 'content-type': 'application/json' })
  expect(customerAccepts(request!, server.webhook.secret, START)).toBe(true)
  expect(standardAccepts(request!, server.webhook.secret, START)).toBe(true)
  const events = await server.eventsOf(answer.id)
  expect(events.map(({ type }) => type)).toEqual(['message.delivered'])
  expect(JSON.parse(request!.body)).toEqual(events[0])
  expect(request!.headers['webhook-id']).toBe(events[0].id)
  await until('the webhook delivery to be recorded', async () => {
    const { data } = await server.read(`/v1/webhooks/${server.webhook.id}/deliveries`)
    return data[0]?.status === 'delivered' && data[0].attempts[0].status_code === 200
  })
})

test('the remote server receives the bytes of the raw view, with two signatures that verify', async () => {
  await open()
  const text = '.\r\n..\n.hidden line\nFrom here on\n\n.'
  const { body } = await server.send({
    html: '<p>Grüße\n.\n<img src="cid:logo"></p>',
    text,
    subject: 'Grüße an Ann 🎁',
    cc: ['"Bob, the builder" <bob@one.remote.example>'],
    bcc: 'eve@two.remote.example',
    reply_to: 'help@elsewhere.example',
    headers: { 'X-Order': 'o-17' },
    attachments: [
      { filename: 'logo.png', content: Buffer.alloc(5000, 7).toString('base64'), content_id: 'logo' },
      { filename: 'Übersicht.txt', content: btoa('one\ntwo'), content_type: 'text/plain' },
    ],
  })
  await server.ended(body.id)
  const { bytes } = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
  expect(remote.mails).toHaveLength(3)
  for (const { raw } of remote.mails) expect(Buffer.compare(raw, bytes)).toBe(0)
  expect(await dkimResults(bytes, server.zone)).toEqual([`ed25519-sha256 ${DOMAIN} pass`, `rsa-sha256 ${DOMAIN} pass`])

  const mail = await simpleParser(Buffer.from(bytes))
  expect(mail.subject).toBe('Grüße an Ann 🎁')
  expect(mail.text!.trimEnd().split('\n')).toEqual(text.split(/\r?\n/))
  expect(mail.headers.get('x-order')).toBe('o-17')
  expect(mail.attachments.map(({ content }) => content.length)).toEqual([5000, 7])
  expect(Buffer.from(bytes).toString('latin1')).not.toContain('eve@')
})

test('one changed byte breaks both signatures', async () => {
  await open()
  const { body } = await server.send()
  await server.ended(body.id)
  const changed = Buffer.from(remote.mails[0]!.raw.toString('latin1').replace('Hi Ann', 'Hi Eve'), 'latin1')
  expect(await dkimResults(changed, server.zone)).toEqual([
    `ed25519-sha256 ${DOMAIN} neutral`,
    `rsa-sha256 ${DOMAIN} neutral`,
  ])
})

test('the return path of each recipient names its delivery', async () => {
  await open()
  const { body } = await server.send({ to: ['ann@one.remote.example', 'bob@two.remote.example'] })
  await server.ended(body.id)
  const verp = createVerp(await server.store().secret('verp', new Uint8Array(32)))
  const deliveries = await server.store().messages.deliveries(body.id)
  const named = remote.mails.map(({ mailFrom, rcptTo }) => {
    const [local, host] = mailFrom.split('@') as [string, string]
    return [host, rcptTo, verp.decode(local)?.deliveryId ?? null]
  })
  expect(named.sort()).toEqual(deliveries.map(({ email, id }) => [`bounces.${DOMAIN}`, [email], id]).sort())
})

test('fifty recipients of one message have separate results', async () => {
  await open({ script: { rcpt: (address) => (address.startsWith('gone') ? '550 5.1.1 no such user' : null) } })
  const to = Array.from({ length: 50 }, (_, i) => `${i % 10 === 3 ? 'gone' : 'user'}${i}@d${i % 7}.remote.example`)
  const { body } = await server.send({ to: to.slice(0, 20), cc: to.slice(20, 40), bcc: to.slice(40) })
  expect(body.recipients.map(({ email }: Json) => email)).toEqual(to)
  const message = await server.ended(body.id)
  expect(message.status).toBe('partial')
  expect(message.recipients.map(({ email, status }: Json) => [email, status])).toEqual(
    to.map((email) => [email, email.startsWith('gone') ? 'bounced' : 'delivered']),
  )
  expect(remote.mails.map(({ rcptTo }) => rcptTo.join()).sort()).toEqual(
    to.filter((email) => !email.startsWith('gone')).sort(),
  )
  const events = await server.eventsOf(body.id)
  expect(events.map(({ data }) => data.to).sort()).toEqual([...to].sort())
  await server.receiver.received(50)
  expect(new Set(server.receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(50)
})

test('over STARTTLS the attempt records the TLS version and an unverified certificate', async () => {
  const certificate = await selfSignedCertificate({ names: ['mx.hosts.example'], now: Date.now() })
  await open({ tls: certificate })
  const { body } = await server.send()
  const message = await server.ended(body.id)
  expect(message.recipients[0]).toMatchObject({ status: 'delivered', tls: expect.stringMatching(/^TLSv1\.3 TLS_/) })
  expect(remote.mails[0]!.isTls).toBe(true)
  const { data } = await server.read(`/v1/messages/${body.id}/attempts`)
  expect(data[0]).toMatchObject({ tls_version: 'TLSv1.3', tls_cipher: expect.any(String), tls_verified: false })
})

test('mail that requires TLS is not sent when the certificate is unverified', async () => {
  const certificate = await selfSignedCertificate({ names: ['mx.hosts.example'], now: Date.now() })
  await open({ tls: certificate })
  const { body } = await server.send({ require_tls: true })
  const message = await server.tried(body.id, 1)
  expect(message.recipients[0].status).not.toBe('delivered')
  expect(remote.mails).toEqual([])
  expect(await server.store().suppressions.find(server.organizationId, 'ann@one.remote.example')).toEqual([])
})

test('a waiting caller gets `delivered`, and one whose timeout ends gets the current status', async () => {
  await open({ script: { rcpt: (address) => (address.startsWith('later') ? '451 4.3.0 later' : null) } })
  const waited = await server.send({}, { prefer: 'wait=30' })
  expect([waited.status, waited.body.status]).toEqual([200, 'delivered'])
  expect(waited.body.recipients[0].status).toBe('delivered')

  const waiting = server.send({ to: 'later@one.remote.example' }, { prefer: 'wait=5' })
  await until('the first attempt', async () => (await server.store().deliveries.nextDueAt(ANY)) === START + 60_000)
  await server.clock.advance(5_000)
  const { status, body } = await waiting
  expect([status, body.status]).toEqual([200, 'deferred'])
})

test('mail for the same host goes over one connection', async () => {
  const raw = await startRawMx()
  remote = raw as never
  server = await startTestServer({ remote: raw })
  for (let n = 0; n < 5; n++) await server.ended((await server.send({ to: `user${n}@one.remote.example` })).body.id)
  expect(raw.connections()).toBe(1)
  expect(raw.mails).toHaveLength(5)
})
