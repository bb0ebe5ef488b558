import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authenticate } from 'mailauth'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { mailauthResolver } from '../../src/net/dns/mailauth-resolver.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { until } from '../support/patience.ts'
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
  await addRoute(through, to)
  await send(through, mail)
}

async function addRoute(through: TestServer, to: string[]): Promise<void> {
  const route = {
    name: 'desk',
    match: { type: 'address', value: `desk@${DOMAIN}` },
    action: { type: 'forward', config: { to } },
  }
  expect((await through.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)
}

async function send(through: TestServer, mail: SendMailOptions): Promise<void> {
  const [host, port] = through.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  await client.sendMail(mail)
  client.close()
}

/** What mailauth says about the ARC chain. */
async function arcOf(raw: Buffer, { zone }: TestServer) {
  const resolver = createResolver({ servers: [zone.address], clock: systemClock, random: systemRandom })
  const { arc } = await authenticate(raw, {
    ip: '127.0.0.1',
    helo: 'x',
    sender: 'x@author.example',
    mta: 'x',
    disableBimi: true,
    resolver: mailauthResolver(resolver) as never,
  })
  resolver.close()
  return arc
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

  expect(await arcOf(mail!.raw, server)).toMatchObject({ status: { result: 'pass' }, i: 1 })

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

const longestLine = (raw: Buffer) =>
  Math.max(
    ...raw
      .toString('latin1')
      .split('\r\n')
      .map(({ length }) => length),
  )

const LONG_LINES: [string, { header?: string[]; body: string; folded: number }][] = [
  ['a line of 999 octets', { body: 'x'.repeat(999), folded: 1 }],
  ['lines of 998 octets', { body: `${'x'.repeat(998)}\r\n${'y'.repeat(998)}`, folded: 0 }],
  ['a line of 300,000 octets', { body: `a ${'word '.repeat(60_000)}`, folded: 1 }],
  ['a long line without blanks, the last one', { body: `a\r\n\r\n${'x'.repeat(5_007)}`, folded: 1 }],
  ['a long line of dots', { body: '.'.repeat(2_000), folded: 1 }],
  ['a long line of blanks', { body: `x${' '.repeat(2_000)}`, folded: 1 }],
  [
    'a long header field with blanks',
    { header: [`References: ${'<1@author.example> '.repeat(60)}`], body: 'x', folded: 1 },
  ],
  ['a long header field without blanks', { header: [`X-Token: ${'t'.repeat(2_500)}`], body: 'x', folded: 1 }],
  [
    'a long Subject and a long body',
    { header: [`Subject: ${'word '.repeat(300)}`], body: 'x'.repeat(1_500), folded: 2 },
  ],
]

test('the ARC seal of a forwarded mail whose long lines are folded verifies, at a server without 8BITMIME', async () => {
  const plain: RawMx = await startRawMx({ extensions: [] })
  const through = await startTestServer({ remote: plain, config: CONFIG })
  try {
    for (const [at, [what, { header = [], body, folded }]] of LONG_LINES.entries()) {
      const head = ['From: b@author.example', `To: desk@${DOMAIN}`, ...header]
      const raw = `${head.join('\r\n')}\r\n\r\n${body}\r\n`
      const envelope = { from: 'b@author.example', to: `desk@${DOMAIN}` }
      if (at === 0) await addRoute(through, ['ann@desk.remote.example'])
      await send(through, { envelope, raw })
      await until(`${what} to arrive`, () => plain.mails.length > at)
      const sent = plain.mails[at]!
      expect([what, longestLine(sent) <= 998]).toEqual([what, true])
      expect([what, await arcOf(sent, through)]).toMatchObject([what, { status: { result: 'pass' }, i: 1 }])
      const [inbound] = (await through.read('/v1/inbound-messages')).data
      await through.ended(inbound.forwarded_as)
      const { data } = await through.read(`/v1/messages/${inbound.forwarded_as}/attempts`)
      const said = /(\d+) lines? over 998 octets folded; a signature of its author may no longer verify/.exec(
        data[0].transcript,
      )
      expect([what, Number(said?.[1] ?? 0)]).toEqual([what, folded])
    }
  } finally {
    await through.close()
    await plain.stop()
  }
}, 60_000)
