import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authenticate } from 'mailauth'
import { createTransport } from 'nodemailer'
import { mailauthResolver } from '../../src/net/dns/mailauth-resolver.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({
    remote,
    config: { smtp: { inbound: { listen: '127.0.0.1:0' } }, inbound: { confirm_forward_targets: false } },
  })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

test('an inbound mail is forwarded unchanged: sealed, not signed as ours, with our return path', async () => {
  const to = ['ann@desk.remote.example']
  const route = {
    name: 'desk',
    match: { type: 'address', value: `desk@${DOMAIN}` },
    action: { type: 'forward', config: { to } },
  }
  expect((await server.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)

  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  await client.sendMail({
    from: 'Bob <bob@author.example>',
    to: `desk@${DOMAIN}`,
    subject: 'A question',
    text: 'Hello?',
  })
  client.close()

  const [mail] = await remote.received(1)
  const raw = mail!.raw.toString()
  expect(mail!.rcptTo).toEqual(to)
  expect(mail!.mailFrom).toMatch(new RegExp(`^b-[0-9a-z]{26}-[0-9a-z]{12}@bounces\\.${DOMAIN}$`))
  expect(raw).not.toMatch(/^DKIM-Signature:/m)
  expect(raw).toContain('From: Bob <bob@author.example>')
  expect(raw).toContain('\r\n\r\nHello?')

  const resolver = createResolver({ servers: [server.zone.address], clock: systemClock, random: systemRandom })
  const { arc } = await authenticate(mail!.raw, {
    ip: '127.0.0.1',
    helo: 'x',
    sender: mail!.mailFrom,
    mta: 'x',
    disableBimi: true,
    resolver: mailauthResolver(resolver) as never,
  })
  resolver.close()
  expect(arc).toMatchObject({ status: { result: 'pass' }, i: 1 })

  const [inbound] = (await server.read('/v1/inbound-messages')).data
  const message = await server.ended(inbound.forwarded_as)
  expect(message).toMatchObject({ status: 'delivered', source: 'smtp', metadata: { inbound_id: inbound.id } })
  expect(await server.read(`/v1/inbound-messages/${inbound.id}`)).toMatchObject({
    action: 'forward',
    status: 'delivered',
  })
  const shown = await server.ask('GET', `/v1/messages/${message.id}/content?part=raw`)
  expect(shown.text).toBe(raw)
})
