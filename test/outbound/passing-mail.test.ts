import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { dkimRecordValue } from '../../src/mail/dkim.ts'
import { packMime } from '../../src/mail/mime-content.ts'
import type { SigningKey } from '../../src/sending/outbound/job.ts'
import { generateDkimKeyPair } from '../support/dkim-keys.ts'
import { until } from '../support/patience.ts'
import { POSTFIX_TOOLS, type Postfix, startPostfix } from '../support/postfix.ts'
import { describeWith } from '../support/real-tools.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { dkimResults } from '../support/verify.ts'
import { AS_POSTFIX, mail, UNLIKE_POSTFIX } from './passed-mails.ts'
import { createOutboundSetup, job, keep, publish } from './setup.ts'

/** Mail that others wrote, offered to real servers that lack an extension. */

const { privateKeyPem, publicKeyBase64 } = generateDkimKeyPair('ed25519-sha256')
const SIGNING: SigningKey[] = [{ domain: 'sender.test', selector: 'ed', algorithm: 'ed25519-sha256', privateKeyPem }]

type Setup = Awaited<ReturnType<typeof createOutboundSetup>>

/** One server, by its extensions. It answers 500 to a mail with a line over 998 octets, as a strict one does. */
async function serverWith(extensions: string[]): Promise<{ mx: RawMx; setup: Setup }> {
  const mx = keep(await strict(extensions))
  const setup = await createOutboundSetup({ settings: { deliveryPort: mx.port } })
  publish(setup.zone, { 'mx1.remote.test': ['127.0.0.1'] })
  setup.zone.set('ed._domainkey.sender.test', 'TXT', [[dkimRecordValue('ed25519-sha256', publicKeyBase64)]])
  return { mx, setup }
}

async function strict(extensions: string[], host = '127.0.0.1', port?: number): Promise<RawMx> {
  const mx: RawMx = await startRawMx({
    extensions,
    host,
    port,
    script: (cue) => (cue === 'DOT' && longestLine(mx.mails.at(-1)) > 998 ? '500 5.5.2 line too long' : null),
  })
  return mx
}

const longestLine = (raw: Uint8Array | undefined) =>
  Math.max(
    ...Buffer.from(raw ?? [])
      .toString('latin1')
      .split('\r\n')
      .map(({ length }) => length),
  )

const forwarded = (raw: string | Buffer) => job({ content: packMime(Buffer.from(raw)) })
const submitted = (raw: string | Buffer) => job({ content: packMime(Buffer.from(raw)), signingKeys: SIGNING })

/** What went out, without fields that servers add and in the order that both share. */
function comparable(raw: Buffer | undefined): { header: string[]; body: string } {
  const text = (raw ?? Buffer.alloc(0)).toString('latin1')
  const bodyAt = text.indexOf('\r\n\r\n') + 4
  const fields = text.slice(0, bodyAt - 2).split(/(?<=\r\n)(?=\S)/)
  return { header: fields.filter((field) => !/^Received:/i.test(field)).sort(), body: text.slice(bodyAt) }
}

describeWith(POSTFIX_TOOLS, 'beside a real Postfix, for a server without extensions,', () => {
  let postfix: Postfix
  let sink: RawMx
  beforeAll(async () => {
    sink = await startRawMx({ extensions: [] })
    postfix = await startPostfix({ next: sink.port, returns: sink.port, returnHost: 'bounce.sender.test' })
  })
  afterAll(async () => {
    await postfix.stop()
    await sink.stop()
  })

  async function throughPostfix(raw: string): Promise<Buffer> {
    const { plainPort, login } = postfix
    const client = createTransport({
      host: '127.0.0.1',
      port: plainPort,
      ignoreTLS: true,
      auth: { user: login.user, pass: login.password },
    })
    const before = sink.mails.length
    await client.sendMail({ envelope: { from: 'b@sender.test', to: 'anna@remote.test' }, raw })
    client.close()
    await until('the mail to leave Postfix', () => sink.mails.length > before)
    return sink.mails[before]!
  }

  for (const [what, raw] of Object.entries(AS_POSTFIX)) {
    test(`${what}: forwarded as Postfix sends it`, async () => {
      const { mx, setup } = await serverWith([])
      const { outcome, attempt } = await setup.attempt(forwarded(raw))
      expect(outcome.kind).toBe('delivered')
      expect(comparable(mx.mails[0])).toEqual(comparable(await throughPostfix(raw)))
      expect(attempt.transcript).toMatch(/changed before sending: .*may no longer verify/)
    })
  }

  for (const [what, [raw, ours, theirs]] of Object.entries(UNLIKE_POSTFIX)) {
    test(`${what}, unlike with Postfix`, async () => {
      const { mx, setup } = await serverWith([])
      expect((await setup.attempt(forwarded(raw))).outcome.kind).toBe('delivered')
      expect(mx.mails[0]!.toString()).toContain(ours)
      expect((await throughPostfix(raw)).toString()).toContain(theirs)
    })
  }
})

test('forwarded mail keeps every octet for a server with 8BITMIME, with or without SMTPUTF8', async () => {
  const raw = mail(['X-Name: Grüße', 'Content-Type: text/plain; charset=utf-8'], 'Grüße')
  for (const extensions of [['8BITMIME'], ['8BITMIME', 'SMTPUTF8']]) {
    const { mx, setup } = await serverWith(extensions)
    const { outcome, attempt } = await setup.attempt(forwarded(raw))
    expect(outcome.kind).toBe('delivered')
    expect(mx.mails[0]!.toString()).toBe(raw)
    expect(attempt.transcript).not.toContain('changed')
    const announced = ` BODY=8BITMIME${extensions.length > 1 ? ' SMTPUTF8' : ''}`
    expect(mx.heard).toContain(`MAIL FROM:<b+1@bounce.sender.test>${announced}`)
  }
})

test('headers that are not UTF-8 go as they are and are not announced as such', async () => {
  const { mx, setup } = await serverWith(['8BITMIME', 'SMTPUTF8'])
  const raw = Buffer.from(mail([], 'x').replace('hello', 'Gr\xfc\xdfe'), 'latin1')
  expect((await setup.attempt(forwarded(raw))).outcome.kind).toBe('delivered')
  expect(mx.mails[0]!.equals(raw)).toBe(true)
  expect(mx.heard).toContain('MAIL FROM:<b+1@bounce.sender.test> BODY=8BITMIME')
})

const TEXT_AND_NAMES = mail(['Content-Type: text/plain; charset=utf-8', 'X-Note: größer'], 'Grüße', 'z'.repeat(5_007))
  .replace('From: ann@', 'From: "Müller, Änne" <ann@')
  .replace('sender.test\r\nTo', 'sender.test>\r\nTo')

for (const extensions of [[], ['SMTPUTF8'], ['8BITMIME'], ['8BITMIME', 'SMTPUTF8', 'PIPELINING', 'CHUNKING']]) {
  test(`submitted mail reaches a server with ${extensions.join(', ') || 'no extension'} in ASCII, and its signature verifies`, async () => {
    const { mx, setup } = await serverWith(extensions)
    const { outcome, attempt } = await setup.attempt(submitted(TEXT_AND_NAMES))
    expect(outcome.kind).toBe('delivered')
    const raw = mx.mails[0]!
    expect(raw.toString('latin1')).toMatch(/^[\x00-\x7f]*$/)
    expect(raw.toString()).toContain('From: =?UTF-8?Q?M=C3=BCller=2C_=C3=84nne?= <ann@sender.test>\r\n')
    expect(raw.toString()).toContain('X-Note: =?UTF-8?B?Z3LDtsOfZXI=?=\r\n')
    expect(await dkimResults(raw, setup.zone)).toEqual(['ed25519-sha256 sender.test pass'])
    expect(attempt.transcript).toMatch(/changed before sending: 1 part re-encoded, 2 header fields encoded\n/)
    expect(mx.connections()).toBe(1)
  })
}

test('a signed multipart of submitted mail changes only for a server without 8BITMIME, and our signature with it', async () => {
  const raw = AS_POSTFIX['a signed multipart']!
  const able = await serverWith(['8BITMIME'])
  await able.setup.attempt(submitted(raw))
  expect(able.mx.mails[0]!.toString()).toEndWith(raw)
  const unable = await serverWith([])
  const { attempt } = await unable.setup.attempt(submitted(raw))
  expect(unable.mx.mails[0]!.toString()).toContain('Gr=C3=BC=C3=9Fe')
  expect(attempt.transcript).toMatch(/does not support 8-bit mail \(8BITMIME\)\n.*1 part re-encoded; a signature/)
  for (const { mx, setup } of [able, unable]) {
    expect(await dkimResults(mx.mails[0]!, setup.zone)).toEqual(['ed25519-sha256 sender.test pass'])
  }
})

test('the lack of 8BITMIME costs no second connection, and the next mail none either', async () => {
  const { mx, setup } = await serverWith(['PIPELINING'])
  const raw = mail(['Content-Type: text/plain; charset=utf-8'], 'Grüße')
  for (let count = 1; count <= 2; count++) {
    expect((await setup.attempt(forwarded(raw))).outcome.kind).toBe('delivered')
    expect(mx.mails.length).toBe(count)
  }
  expect(mx.connections()).toBe(1)
})

async function twoServers(first: string[] | null, second: string[] | null) {
  const one = keep(await strict(first ?? []))
  const two = keep(await strict(second ?? [], '127.0.0.2', one.port))
  if (first === null) await one.stop()
  if (second === null) await two.stop()
  const setup = await createOutboundSetup({ settings: { deliveryPort: one.port } })
  publish(setup.zone, { 'mx1.remote.test': ['127.0.0.1'], 'mx2.remote.test': ['127.0.0.2'] })
  return { two, setup }
}
const toUtf8 = () => ({ ...forwarded(mail([], 'x')), recipient: 'änne@remote.test' })

test('mail to a non-ASCII address goes to the next host when the first lacks SMTPUTF8', async () => {
  const { two, setup } = await twoServers(['8BITMIME'], ['8BITMIME', 'SMTPUTF8'])
  const { outcome, attempt } = await setup.attempt(toUtf8())
  expect([outcome.kind, attempt.mxHost]).toEqual(['delivered', 'mx2.remote.test'])
  expect(two.heard).toContain('MAIL FROM:<b+1@bounce.sender.test> SMTPUTF8')
})

test('mail to a non-ASCII address waits while a host that may have SMTPUTF8 is down, and bounces when none has it', async () => {
  for (const servers of [
    [['8BITMIME'], null],
    [null, ['8BITMIME']],
  ] as const) {
    const { setup } = await twoServers(servers[0] && [...servers[0]], servers[1] && [...servers[1]])
    expect((await setup.attempt(toUtf8())).outcome.kind).toBe('deferred')
  }
  const { setup } = await twoServers([], [])
  expect((await setup.attempt(toUtf8())).outcome).toMatchObject({ kind: 'bounced', code: '5.6.7', bounceType: 'soft' })
})

test('a base64 file in one line is wrapped when submitted, and arrives whole', async () => {
  const file = Buffer.from(Array.from({ length: 6_000 }, (_, at) => (at * 7) & 255))
  const raw = mail(['Content-Type: image/png', 'Content-Transfer-Encoding: base64'], file.toString('base64'))
  const { mx, setup } = await serverWith([])
  expect((await setup.attempt(submitted(raw))).outcome.kind).toBe('delivered')
  const text = mx.mails[0]!.toString()
  expect(longestLine(mx.mails[0])).toBeLessThan(999)
  expect(Buffer.from(text.slice(text.indexOf('\r\n\r\n')), 'base64').equals(file)).toBe(true)
})
