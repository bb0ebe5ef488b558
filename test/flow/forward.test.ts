import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authenticate } from 'mailauth'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { mailauthResolver } from '../../src/net/dns/mailauth-resolver.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { type RawMx, type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

const CONFIG = { smtp: { inbound: { listen: '127.0.0.1:0' } }, inbound: { confirm_forward_targets: false } }

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: CONFIG })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

/** Sends a mail to `desk@`, which the server forwards. */
async function sendThrough(through: TestServer, to: string[], mail: SendMailOptions): Promise<void> {
  const route = {
    name: 'desk',
    match: { type: 'address', value: `desk@${DOMAIN}` },
    action: { type: 'forward', config: { to } },
  }
  expect((await through.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)
  const [host, port] = through.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  await client.sendMail(mail)
  client.close()
}

test('an inbound mail is forwarded unchanged: sealed, not signed as ours, with our return path', async () => {
  const to = ['ann@desk.remote.example']
  await sendThrough(server, to, {
    from: 'Bob <bob@author.example>',
    to: `desk@${DOMAIN}`,
    subject: 'A question',
    text: 'Hello?',
  })

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

test('8-bit mail with long lines is forwarded to a strict server without 8BITMIME, and the attempt says what changed', async () => {
  const strict: RawMx = await startRawMx({
    extensions: [],
    script: (cue) =>
      cue === 'DOT' && /[^\n]{1000}/.test(strict.mails.at(-1)!.toString('latin1')) ? '500 too long' : null,
  })
  const through = await startTestServer({ remote: strict, config: CONFIG })
  try {
    const head = ['From: Jürgen <j@author.example>', `To: desk@${DOMAIN}`, `X-Long: ${'word '.repeat(400)}end`]
    const raw = `${head.join('\r\n')}\r\n\r\nGrüße\r\n${'x'.repeat(5_007)}\r\n`
    const envelope = { from: 'j@author.example', to: `desk@${DOMAIN}` }
    await sendThrough(through, ['ann@desk.remote.example'], { envelope, raw })
    const [inbound] = (await through.read('/v1/inbound-messages')).data
    expect(await through.ended(inbound.forwarded_as)).toMatchObject({ status: 'delivered' })
    const sent = strict.mails[0]!.toString()
    expect(sent).toContain('From: Jürgen <j@author.example>\r\n')
    expect(sent).toContain('Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n')
    const { data } = await through.read(`/v1/messages/${inbound.forwarded_as}/attempts`)
    expect(data[0].transcript).toMatch(
      /does not support 8-bit mail \(8BITMIME\)\n.*1 part re-encoded, 1 line over 998 octets folded; a signature of its author may no longer verify\n/,
    )
  } finally {
    await through.close()
    await strict.stop()
  }
})
