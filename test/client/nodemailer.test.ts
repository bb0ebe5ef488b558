import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { simpleParser } from 'mailparser'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { Postrider, type PostriderError } from '../../src/client/index.ts'
import { postriderTransport } from '../../src/client/nodemailer.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { startHostile } from './hostile.ts'

/** The real nodemailer with our transport and a real mail server: the received mail must equal the sent one. */
let remote: RemoteMx
let server: TestServer
let client: Postrider
let folder: string
const transport = (defaults: SendMailOptions = {}) =>
  createTransport(
    postriderTransport({ baseUrl: `http://${server.running().listening.http}`, apiKey: server.keys.live }),
    defaults,
  )

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-nodemailer-'))
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
  client = new Postrider({ baseUrl: `http://${server.running().listening.http}`, apiKey: server.keys.live })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
  rmSync(folder, { recursive: true, force: true })
})

const FROM = `shop@${DOMAIN}`
const ANN = 'ann@one.remote.example'
const MAIL: SendMailOptions = { from: FROM, to: ANN, subject: 'Hello', text: 'Hi' }

/** The mails that the mail server received for a message. */
async function arrived(id: string) {
  await client.messages.waitFor(id)
  const raw = await client.messages.content(id, { part: 'raw' })
  return simpleParser(Buffer.from(raw))
}

test('a mail with every field arrives as given', async () => {
  const path = join(folder, 'terms.txt')
  writeFileSync(path, 'Terms – all of them')
  const sent = await transport({ headers: { 'X-Shop': 'north' } }).sendMail({
    from: { name: 'Shop, north', address: FROM },
    to: [
      { name: 'Ann "A." Lee', address: ANN },
      { name: 'Böb', address: 'bob@one.remote.example' },
    ],
    cc: 'cy@one.remote.example, di@one.remote.example',
    bcc: 'ed@one.remote.example',
    replyTo: 'Help <help@elsewhere.example>',
    subject: 'Grüße',
    text: 'Hi Ann',
    html: Readable.from(['<p>Hi <img src="cid:logo"></p>']),
    inReplyTo: '<a@b.example>',
    references: ['<z@b.example>', '<a@b.example>'],
    priority: 'high',
    headers: {
      'X-Order': { prepared: true, value: '17' },
      'X-Service-Tags': 'receipt, north',
      'X-Service-Metadata': '{"order":"o-17"}',
    },
    attachments: [
      { filename: 'logo.png', content: Buffer.from([0x89, 0x50, 0xff]), cid: 'logo' },
      { path },
      { filename: 'stream.bin', content: Readable.from([Buffer.from([1, 2, 3])]) },
      { filename: 'text.txt', content: 'grün' },
      { filename: 'hex.bin', content: 'ff00', encoding: 'hex' },
      { filename: 'empty.txt', content: '' },
    ],
  })
  expect(sent).toEqual({
    envelope: {
      from: FROM,
      to: [ANN, 'bob', 'cy', 'di', 'ed'].map((name) => `${name.split('@')[0]}@one.remote.example`),
    },
    messageId: expect.stringMatching(/^msg_/),
    status: 'queued',
    accepted: expect.arrayContaining([ANN, 'ed@one.remote.example']),
    rejected: [],
    response: `202 queued as ${sent.messageId}`,
  })
  const mail = await arrived(sent.messageId)
  expect(mail.from?.value).toEqual([{ name: 'Shop, north', address: FROM }])
  expect([mail.to].flat()[0]?.value).toEqual([
    { name: 'Ann "A." Lee', address: ANN },
    { name: 'Böb', address: 'bob@one.remote.example' },
  ])
  expect([mail.cc].flat()[0]?.value.map(({ address }) => address)).toEqual([
    'cy@one.remote.example',
    'di@one.remote.example',
  ])
  expect(mail.bcc).toBeUndefined()
  expect(mail.replyTo?.text).toContain('help@elsewhere.example')
  expect([mail.subject, mail.text?.trim(), mail.inReplyTo]).toEqual(['Grüße', 'Hi Ann', '<a@b.example>'])
  expect(mail.references).toEqual(['<z@b.example>', '<a@b.example>'])
  const header = (name: string) => mail.headers.get(name)
  expect([header('x-order'), header('x-shop'), header('priority')]).toEqual(['17', 'north', 'high'])
  expect(mail.headerLines.filter(({ key }) => key.startsWith('x-service'))).toEqual([])
  const files = mail.attachments.map(({ filename, contentType, content, cid }) => [
    filename,
    contentType,
    content.toString('latin1'),
    cid,
  ])
  expect(files).toEqual([
    ['logo.png', 'image/png', '\x89P\xff', 'logo'],
    ['terms.txt', 'text/plain', Buffer.from('Terms – all of them').toString('latin1'), undefined],
    ['stream.bin', 'application/octet-stream', '\x01\x02\x03', undefined],
    ['text.txt', 'text/plain', Buffer.from('grün').toString('latin1'), undefined],
    ['hex.bin', 'application/octet-stream', '\xff\x00', undefined],
    ['empty.txt', 'text/plain', '', undefined],
  ])
  expect(await client.messages.get(sent.messageId)).toMatchObject({
    tags: ['receipt', 'north'],
    metadata: { order: 'o-17' },
    source: 'api',
  })
})

test('headers name the stream and the route of replies', async () => {
  const match = { type: 'address' as const, value: `help@${DOMAIN}` }
  const route = await client.inboundRoutes.create({ name: 'Desk', match, action: { type: 'store' } })
  const headers = { 'X-Service-Replies': 'Desk', 'X-Service-Stream': 'bulk' }
  const { messageId } = await transport().sendMail({ ...MAIL, headers })
  expect(await client.messages.get(messageId)).toMatchObject({ replies: route.id, stream: 'bulk' })
  const { replyTo } = await arrived(messageId)
  expect(replyTo?.text).toMatch(/^reply\+\w{46}@sender\.example$/)
})

test('an idempotency key makes two sends one', async () => {
  const mail = { ...MAIL, headers: [{ key: 'X-Service-Idempotency-Key', value: 'welcome-1' }] }
  const [first, second] = [await transport().sendMail(mail), await transport().sendMail(mail)]
  expect(second.messageId).toBe(first.messageId)
})

test('a suppressed address is among the rejected', async () => {
  await client.suppressions.create({ email: 'stop@one.remote.example' })
  const { accepted, rejected } = await transport().sendMail({ ...MAIL, to: [ANN, 'stop@one.remote.example'] })
  expect([accepted, rejected]).toEqual([[ANN], ['stop@one.remote.example']])
})

describe('unsupported fields are refused, and nothing is sent', () => {
  const cases: [string, SendMailOptions][] = [
    ['raw', { raw: 'From: a\r\n\r\n' }],
    ['envelope', { envelope: { from: FROM, to: ['other@one.remote.example'] } }],
    ['sender', { sender: FROM }],
    ['messageId', { messageId: '<mine@sender.example>' }],
    ['date', { date: new Date(0) }],
    ['dkim', { dkim: { domainName: 'a', keySelector: 'b', privateKey: 'c' } }],
    ['alternatives', { alternatives: [{ contentType: 'text/x', content: 'x' }] }],
    ['amp', { amp: '<html amp4email>' }],
    ['icalEvent', { icalEvent: 'BEGIN:VCALENDAR' }],
    ['attachments[0].raw', { attachments: [{ raw: 'x' }] }],
    ['attachments[0].headers', { attachments: [{ filename: 'a', content: 'x', headers: { 'X-A': 'b' } }] }],
    ['headers.X-Twice', { headers: { 'X-Twice': ['a', 'b'] } }],
    ['headers.X-Service-Metadata', { headers: { 'X-Service-Metadata': 'order' } }],
    ['from', { from: [FROM, `other@${DOMAIN}`] as never }],
    ['from', { from: undefined }],
  ]
  for (const [field, change] of cases) {
    test(field, async () => {
      const sent = (await client.stats.read()).totals.accepted
      const error: PostriderError = await transport()
        .sendMail({ ...MAIL, ...change })
        .catch((reason) => reason)
      expect([error.name, error.code, error.field]).toEqual(['ValidationError', 'validation_error', field])
      expect((await client.stats.read()).totals.accepted).toBe(sent)
    })
  }
})

test('API errors and missing files are errors of the send', async () => {
  const refused = transport().sendMail({ ...MAIL, from: 'shop@elsewhere.example' })
  await expect(refused).rejects.toMatchObject({ name: 'ForbiddenError', status: 403 })
  const owned = transport().sendMail({ ...MAIL, list: { unsubscribe: 'https://shop.example/stop' } })
  await expect(owned).rejects.toMatchObject({ code: 'validation_error', field: 'headers.List-Unsubscribe' })
  const missing = transport().sendMail({ ...MAIL, attachments: [{ path: join(folder, 'none') }] })
  await expect(missing).rejects.toMatchObject({ code: 'ENOENT' })
  const ended = transport().sendMail({ ...MAIL, signal: AbortSignal.abort() })
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' })
})

test('a signal aborts a send', async () => {
  const server = await startHostile('hang')
  const slow = createTransport(postriderTransport({ baseUrl: server.url, apiKey: 'svc_live_x' }))
  const caller = new AbortController()
  const failure = slow.sendMail({ ...MAIL, signal: caller.signal }).catch((reason) => reason)
  await server.untilReceived(1)
  caller.abort()
  expect(await failure).toMatchObject({ name: 'AbortError', code: 'aborted' })
  await server.stop()
})

test('verify reports whether the server accepts the key', async () => {
  expect(await transport().verify()).toBe(true)
  const { id: domain_id } = (await client.domains.list().page()).data[0]!
  const { key } = await client.apiKeys.create({ name: 'shop', domain_id, permissions: ['send'] })
  const baseUrl = `http://${server.running().listening.http}`
  expect(await createTransport(postriderTransport({ baseUrl, apiKey: key })).verify()).toBe(true)
  const stranger = createTransport(postriderTransport({ baseUrl, apiKey: 'svc_live_x' }))
  await expect(stranger.verify()).rejects.toMatchObject({ code: 'unauthorized' })
})
