import { afterEach, expect, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Remote, startTestServer, type TestServer } from '../support/server.ts'
import { dkimResults } from '../support/verify.ts'
import { clientOptions, mailOf } from './setup.ts'

/** From the author's mail library through the whole server to the recipient's MX. */

let server: TestServer
let stop: () => Promise<void>

async function open<R extends Remote & { stop(): Promise<void> }>(remote: R): Promise<R> {
  const submission = { listen: '127.0.0.1:0', listen_tls: '127.0.0.1:0' }
  server = await startTestServer({ remote, config: { smtp: { inbound: { listen: 'off' }, submission } } })
  stop = remote.stop
  return remote
}
afterEach(async () => {
  await server.close()
  await stop()
})

/** Submits a mail → its message id. */
async function handIn(mail: object, change: object = {}): Promise<string> {
  const { smtpSubmission } = server.running().listening
  const port = Number(smtpSubmission!.split(':').at(-1))
  const transport = createTransport({ ...clientOptions(port, server.keys.live), ...change })
  const { response } = await transport.sendMail(mail)
  transport.close()
  return /^250 2\.0\.0 queued as (msg_\w+)$/.exec(response)![1]!
}

const bothPass = [`ed25519-sha256 ${DOMAIN} pass`, `rsa-sha256 ${DOMAIN} pass`]

test('a mail of a mail library arrives signed and complete at all its recipients', async () => {
  const remote = await open(await startRemoteMx())
  const content = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 7 + (i >> 8)) & 255))
  const id = await handIn({
    from: `"Shop, Inc." <shop@${DOMAIN}>`,
    to: 'Ännchen <ann@one.remote.example>',
    bcc: 'eve@two.remote.example',
    subject: 'Grüße an Ännchen 🎁',
    text: '.\n..\nFrom here on\n\n.',
    html: `<p>Grüße</p>\n${'<p>long line</p>'.repeat(100)}`,
    attachments: [{ filename: 'data.bin', content }],
    headers: { 'X-Service-Tags': 'receipt', 'X-Service-Metadata': '{"order":"o-17"}', 'X-Order': 'o-17' },
  })
  expect((await server.ended(id)).status).toBe('delivered')
  const { bytes } = await server.ask('GET', `/v1/messages/${id}/content?part=raw`)
  expect(remote.mails.map(({ rcptTo }) => rcptTo[0]).sort()).toEqual([
    'ann@one.remote.example',
    'eve@two.remote.example',
  ])
  for (const { raw } of remote.mails) expect(Buffer.compare(raw, bytes)).toBe(0)
  expect(await dkimResults(bytes, server.zone)).toEqual(bothPass)

  const mail = await simpleParser(Buffer.from(bytes))
  expect(mail.subject).toBe('Grüße an Ännchen 🎁')
  expect(mail.text!.trimEnd().split(/\r?\n/)).toEqual(['.', '..', 'From here on', '', '.'])
  expect(Buffer.compare(mail.attachments[0]!.content, content)).toBe(0)
  expect(mail.headers.get('x-order')).toBe('o-17')
  for (const name of ['bcc', 'x-service-tags', 'x-service-metadata']) expect(mail.headers.has(name)).toBe(false)
  const events = await server.eventsOf(id)
  expect(events.map(({ type, data }) => [type, data.tags, data.metadata])).toEqual(
    Array(2).fill(['message.delivered', ['receipt'], { order: 'o-17' }]),
  )
})

const EIGHT_BIT = mailOf(
  [
    'Received: by one',
    'received: by two;',
    '\tlater',
    `FROM : Jürgen <shop@${DOMAIN}>`,
    'To: =?utf-8?Q?=C3=84?=',
    ' <ann@one.remote.example>,',
    '\t b@elsewhere.example',
    'Subject:    Grüße\t ',
    'Content-Type: text/plain; charset=utf-8',
  ],
  '.\r\n..\r\nGrüße  \t\r\n \r\n\r\n\r\n',
)
const IN_ASCII = [
  'MIME-Version: 1.0',
  'Date: Sat, 21 Nov 2026 12:00:00 +0000',
  'Message-ID: <ID>',
  'Received: by one',
  'received: by two;',
  '\tlater',
  `FROM: =?UTF-8?Q?J=C3=BCrgen?= <shop@${DOMAIN}>`,
  'To: =?utf-8?Q?=C3=84?=',
  ' <ann@one.remote.example>,',
  '\t b@elsewhere.example',
  'Subject: =?UTF-8?B?R3LDvMOfZQ==?=',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '.',
  '..',
  'Gr=C3=BC=C3=9Fe  =09',
  '=20',
  '',
  '',
  '',
].join('\r\n')

for (const extensions of [['PIPELINING'], ['8BITMIME', 'SMTPUTF8']]) {
  test(`8-bit text and UTF-8 headers of the author become ASCII before signing, for a server with ${extensions}`, async () => {
    const mx = await open(await startRawMx({ extensions }))
    const id = await handIn({ envelope: { from: `x@${DOMAIN}`, to: ['ann@one.remote.example'] }, raw: EIGHT_BIT })
    expect((await server.ended(id)).status).toBe('delivered')
    const sent = mx.mails[0]!
    const got = sent.toString('latin1')
    expect(got.slice(got.indexOf('MIME-Version: '))).toBe(IN_ASCII.replace('<ID>', `<${id.slice(4)}@${DOMAIN}>`))
    expect(await dkimResults(sent, server.zone)).toEqual(bothPass)
    const secondFrom = Buffer.concat([Buffer.from(`From: evil@${DOMAIN}\r\n`), sent])
    expect(await dkimResults(secondFrom, server.zone)).not.toContain(bothPass[0]!)

    const { data } = await server.read(`/v1/messages/${id}/attempts`)
    expect(data[0].transcript).toContain('changed before sending: 1 part re-encoded, 2 header fields encoded\n')
    const { bytes } = await server.ask('GET', `/v1/messages/${id}/content?part=raw`)
    expect(sent.equals(bytes)).toBe(true)
  })
}
