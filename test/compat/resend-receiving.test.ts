import { afterAll, beforeAll, expect, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { Resend } from 'resend'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'
import { RECEIVING, receive } from './receive.ts'

/** Mail received over SMTP, read with npm's `resend`, which fetches the download links without a key. */

const NOON = '2026-11-21T12:00:00.000Z'
const ONE_PM = '2026-11-21T13:00:00.000Z'
const TO = [`desk@${DOMAIN}`]

let remote: RemoteMx
let server: TestServer
let resend: Resend
let id: string

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote, config: RECEIVING })
  resend = new Resend(server.keys.live, { baseUrl: `http://${server.running().listening.http}/compat/resend` })
  id = await receive(server)
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

async function data<T>(answer: Promise<{ data: T | null; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await answer
  expect(error).toBeNull()
  return data as NonNullable<T>
}

const FILES = [
  { filename: 'logo.png', size: 3, content_type: 'image/png', content_id: 'logo' },
  { filename: 'a.pdf', size: 4, content_type: 'application/pdf', content_id: null },
].map((file, index) => ({ id: `${index + 1}`, ...file, content_disposition: 'attachment' }))
const LINK = { download_url: expect.stringContaining('/downloads/'), expires_at: ONE_PM }

test('a received email is listed, and read with its bodies, addresses and attachments', async () => {
  const head = {
    id,
    subject: 'A question',
    created_at: NOON,
    bcc: null,
    received_for: TO,
    message_id: expect.any(String),
  }
  const listed: Json = await data(resend.emails.receiving.list())
  expect(listed.data).toEqual([
    { ...head, from: 'bob@author.example', to: TO, cc: null, reply_to: null, attachments: [] },
  ])
  const email: Json = await data(resend.emails.receiving.get(id))
  expect(email).toEqual({
    ...head,
    object: 'email',
    from: 'Bob <bob@author.example>',
    to: [`Desk <${TO[0]}>`],
    cc: ['Cy <cy@author.example>', 'di@author.example'],
    reply_to: ['bob@answers.example'],
    html: expect.stringContaining('<img src="cid:logo">'),
    html_format: 'cid',
    text: expect.stringContaining('Hello?'),
    headers: expect.objectContaining({ subject: 'A question' }),
    attachments: FILES,
    raw: LINK,
  })
})

// threat: received-mail-links
test('a download link gives the bytes without a key, and nothing after an hour', async () => {
  const page: Json = await data(resend.emails.receiving.attachments.list({ emailId: id, limit: 1 }))
  expect(page).toEqual({ object: 'list', has_more: true, data: [{ ...FILES[0], ...LINK }] })
  const rest: Json = await data(resend.emails.receiving.attachments.list({ emailId: id, after: '1' }))
  expect(rest).toEqual({ object: 'list', has_more: false, data: [{ ...FILES[1], ...LINK }] })
  const before: Json = await data(resend.emails.receiving.attachments.list({ emailId: id, before: '2' }))
  expect(before.data.map((each: Json) => each.id)).toEqual(['1'])

  const file: Json = await data(resend.emails.receiving.attachments.get({ emailId: id, id: '2' }))
  expect(file).toEqual({ object: 'attachment', ...FILES[1], ...LINK })
  const answer = await fetch(file.download_url)
  expect([answer.status, await answer.text()]).toEqual([200, '%PDF'])
  expect(answer.headers.get('content-type')).toBe('application/octet-stream')
  expect(answer.headers.get('content-disposition')).toBe('attachment')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  const email: Json = await data(resend.emails.receiving.get(id))
  const raw = await simpleParser(await (await fetch(email.raw.download_url)).text())
  expect(raw.subject).toBe('A question')

  const { error } = await resend.emails.receiving.attachments.get({ emailId: id, id: '3' })
  expect(error).toMatchObject({ statusCode: 404, name: 'not_found' })
  expect((await fetch(file.download_url.replace('.2.', '.1.'))).status).toBe(404)
  expect((await fetch(file.download_url.replace('.2.', '.raw.'))).status).toBe(404)
  await server.clock.advance(3_600_000)
  expect((await fetch(file.download_url)).status).toBe(404)
})

test('a received email of a megabyte reads like a short one', async () => {
  const text = 'Hello? '.repeat(150_000)
  const email: Json = await data(resend.emails.receiving.get(await receive(server, { text })))
  expect([email.text.trim(), email.from, email.attachments]).toEqual([text.trim(), 'Bob <bob@author.example>', FILES])
})

test('the package forwards a received email', async () => {
  const from = `Desk <${TO[0]}>`
  const sent = await data(resend.emails.receiving.forward({ emailId: id, to: 'ann@one.remote.example', from }))
  await server.ended(sent.id)
  const mail = await simpleParser(Buffer.from(remote.mails.at(-1)!.raw))
  expect(mail.subject).toBe('A question')
  expect(mail.attachments.map(({ filename }) => filename)).toEqual(['logo.png', 'a.pdf'])
})

test('a webhook gets email.received, and email.sent when a message is accepted', async () => {
  const { url: endpoint } = server.receiver
  const events = ['email.received', 'email.sent'] as const
  const made = await data(resend.webhooks.create({ endpoint, events: [...events] }))
  expect((await data(resend.webhooks.get(made.id))).events).toEqual([...events])
  const received = await receive(server)
  const mail = { from: `Shop <shop@${DOMAIN}>`, to: 'ann@one.remote.example', subject: 'Hello', text: 'Hi' }
  const sent = await data(resend.emails.send(mail))
  const posted = () =>
    server.receiver.requests
      .filter(({ headers }) => headers['svix-id'] !== undefined)
      .map(({ body }) => JSON.parse(body))
  await until('both events', () => posted().length >= 2)
  const byType = new Map(posted().map((event: Json) => [event.type, event.data]))
  expect(byType.get('email.received')).toMatchObject({ email_id: received, subject: 'A question', to: TO })
  expect(byType.get('email.received').attachments.map(({ id, content_id }: Json) => [id, content_id])).toEqual([
    ['1', 'logo'],
    ['2', null],
  ])
  expect(byType.get('email.sent')).toMatchObject({ email_id: sent.id, subject: 'Hello', to: [mail.to] })
})
