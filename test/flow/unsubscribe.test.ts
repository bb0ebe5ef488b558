import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { createVerp } from '../../src/mail/verp.ts'
import { clientOptions } from '../smtp-submission/setup.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { dkimResults } from '../support/verify.ts'

/** Which mail has the List-Unsubscribe field: the message field, the domain's setting, and the header of mail by
 *  SMTP. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  const smtp = { inbound: { listen: 'off' }, submission: { listen: '127.0.0.1:0' } }
  server = await startTestServer({ remote, config: { smtp } })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})
beforeEach(() => tracking(false))

async function tracking(unsubscribe: boolean) {
  const [domain] = (await server.read('/v1/domains')).data
  const { status } = await server.ask('PATCH', `/v1/domains/${domain.id}`, { tracking: { unsubscribe } })
  expect(status).toBe(200)
}

/** The mails of a message as the remote server got them, in the order of its recipients. */
async function arrived(id: string): Promise<Buffer[]> {
  const { recipients, message_id_header } = await server.ended(id)
  return recipients.map(({ email }: { email: string }) => {
    const mails = remote.mails.filter(({ rcptTo, raw }) => rcptTo[0] === email && raw.includes(message_id_header))
    expect(mails).toHaveLength(1)
    return mails[0]!.raw
  })
}
const fieldsOf = (raw: Buffer) => raw.toString('latin1').match(/^List-Unsubscribe:.*$/gim) ?? []

test('each recipient of such mail has a separate signed address; raw is the mail of the first', async () => {
  const to = ['ann@one.remote.example', 'bob@two.remote.example']
  const { body } = await server.send({ to, unsubscribe: true })
  const mails = await arrived(body.id)
  const verp = createVerp(await server.store().secret('verp', new Uint8Array(32)))
  const deliveries = await server.store().messages.deliveries(body.id)
  for (const [i, raw] of mails.entries()) {
    const [, local, host] = /^List-Unsubscribe: <http:[^>]+>, <mailto:([^@]+)@([^?]+)\?subject=unsubscribe>$/m.exec(
      fieldsOf(raw).join('\n'),
    )!
    expect(verp.decode(local!)).toEqual({ kind: 'unsubscribe', deliveryId: deliveries[i]!.id })
    expect(remote.mails.find((mail) => mail.raw === raw)!.mailFrom).toEndWith(`@${host}`)
    expect(await dkimResults(raw, server.zone)).toEqual([`ed25519-sha256 ${DOMAIN} pass`, `rsa-sha256 ${DOMAIN} pass`])
    const altered = Buffer.from(raw.toString('latin1').replace('?subject=', '?subject=x'), 'latin1')
    expect(await dkimResults(altered, server.zone)).toEqual([
      `ed25519-sha256 ${DOMAIN} fail`,
      `rsa-sha256 ${DOMAIN} fail`,
    ])
  }
  const shown = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
  expect(Buffer.compare(mails[0]!, shown.bytes)).toBe(0)

  const again = await server.ask('POST', `/v1/messages/${body.id}/resend`)
  expect((await arrived(again.body.id)).map((raw) => fieldsOf(raw).length)).toEqual([1, 1])
})

test.each([
  [false, undefined, 0],
  [false, null, 0],
  [false, true, 1],
  [true, undefined, 1],
  [true, false, 0],
] as const)('domain %p, field %p: %p', async (setting, unsubscribe, count) => {
  await tracking(setting)
  const { body } = await server.send({ unsubscribe })
  const [raw] = await arrived(body.id)
  expect(fieldsOf(raw!)).toHaveLength(count)
})

test('no dead unsubscribe link is delivered: without a link in its place, the message is refused', async () => {
  const html = '<a href="https://%25UNSUBSCRIBE_URL%25?from=mail">stop</a> <p>%unsubscribe_url%</p>'
  const off = await server.send({ html, text: 'x' })
  expect([off.status, off.body.error]).toMatchObject([400, { code: 'validation_error', field: 'html' }])
  const text = await server.send({ html: '<p>x</p>', text: '%Unsubscribe_url%', unsubscribe: false })
  expect([text.status, text.body.error.field]).toEqual([400, 'text'])
  const template = await server.ask('POST', '/v1/templates', {
    name: 'T',
    alias: 'stop',
    subject: 'x',
    text: '%unsubscribe_url%',
  })
  expect(template.status).toBe(201)
  const used = { template_id: 'stop', subject: undefined, html: undefined, text: undefined }
  const filled = await server.send(used)
  expect([filled.status, filled.body.error.field]).toEqual([400, 'template_id'])
  await expect(handIn({}, 'Stop: %UNSUBSCRIBE_URL%')).rejects.toThrow('550 5.6.0')

  const foreign = '<a href="{{{ pm:unsubscribe }}}">stop</a>'
  for (const unsubscribe of [true, false]) {
    const moved = await server.send({ html: foreign, unsubscribe })
    expect([moved.status, moved.body.error]).toMatchObject([400, { field: 'html', code: 'validation_error' }])
    expect(moved.body.error.message).toContain('{{ pm:unsubscribe }}')
  }
  await expect(handIn({}, 'Stop: [[UNSUB_LINK_EN]]')).rejects.toThrow('550 5.6.0')

  const many = await server.send({ html: '%unsubscribe_url% '.repeat(1_001), unsubscribe: true })
  expect([many.status, many.body.error.field]).toEqual([400, 'html'])

  for (const body of [{ html, text: 'x' }, used]) {
    const sent = await server.send({ ...body, unsubscribe: true })
    const [raw] = await arrived(sent.body.id)
    expect(raw!.toString()).not.toMatch(/unsubscribe_url/i)
    expect(raw!.toString().replaceAll('=\r\n', '')).toMatch(/\/t\/u/)
  }
})

const OWN = '<https://shop.example/stop>'

test('a message that renounces our field can have its own, and no other can', async () => {
  const headers = { 'List-Unsubscribe': OWN, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
  const { body } = await server.send({ headers, unsubscribe: false })
  const [raw] = await arrived(body.id)
  expect(fieldsOf(raw!)).toEqual([`List-Unsubscribe: ${OWN}`])
  expect(raw!.toString()).toMatch(/h=[^;]*list-unsubscribe:[^;]*list-unsubscribe-post/)
  for (const unsubscribe of [undefined, null, true]) {
    const refused = await server.send({ headers, unsubscribe })
    expect([refused.status, refused.body.error]).toMatchObject([400, { field: 'headers.List-Unsubscribe' }])
  }
})

test.each([
  ['says nothing', {}, []],
  ['asks for it', { 'X-Service-Unsubscribe': 'Yes' }, [/, <mailto:u-/]],
  ['asks for none', { 'X-Service-Unsubscribe': 'no' }, []],
  ['has a field of its own', { 'List-Unsubscribe': OWN }, [OWN]],
  ['asks for it and has a field of its own', { 'X-Service-Unsubscribe': 'yes', 'List-Unsubscribe': OWN }, [OWN]],
])('mail by SMTP has the field when %s', async (_, headers, expected) => {
  await tracking(true) // applies to the API only
  const { response } = await handIn(headers)
  const [raw] = await arrived(/msg_\w+/.exec(response)![0])
  const fields = fieldsOf(raw!)
  expect(fields).toHaveLength(expected.length)
  for (const [i, each] of expected.entries()) expect(fields[i]).toMatch(each)
  expect(raw!.toString()).not.toContain('X-Service')
})

test('an X-Service-Unsubscribe that is neither yes nor no is refused', async () => {
  await expect(handIn({ 'X-Service-Unsubscribe': 'maybe' })).rejects.toThrow(
    '550 5.6.0 X-Service-Unsubscribe must be yes or no',
  )
})

async function handIn(headers: Record<string, string>, text = 'Hi') {
  const port = Number(server.running().listening.smtpSubmission!.split(':').at(-1))
  const transport = createTransport(clientOptions(port, server.keys.live))
  const mail = { from: `shop@${DOMAIN}`, to: 'ann@one.remote.example', subject: 'Hello', text, headers }
  return transport.sendMail(mail).finally(() => transport.close())
}
