import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { unwrap } from '../../src/client/unwrap.ts'
import { clientOptions } from '../smtp-submission/setup.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type ReceivedMail, type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

/** A mail over SMTP to its recipient, the answer of a mail program over SMTP, and what the organization gets of it. */

const SECOND = 'second.example'
const DAY_MS = 86_400_000
let remote: RemoteMx
let server: TestServer
let desk: Receiver
let hook: Receiver
let secrets: { desk: string; hook: string }
let secondId: string
beforeAll(async () => {
  remote = await startRemoteMx()
  const listen = '127.0.0.1:0'
  const smtp = { inbound: { listen }, submission: { listen } }
  const plans = { enterprise: { retention_days: 3 } }
  server = await startTestServer({ remote, config: { smtp, plans, inbound: { reply_address_days: 5 } } })
  desk = await startReceiver()
  hook = await startReceiver()
  const route = await addRoute('Desk', `help@${DOMAIN}`, { type: 'webhook', config: { url: desk.url } })
  const webhook = await server.ask('POST', '/v1/webhooks', { url: hook.url, events: ['message.replied'] })
  secrets = { desk: route.secret, hook: webhook.body.secret }
  secondId = (await server.ask('POST', '/v1/domains', { name: SECOND })).body.id
  const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
  await server.store().domains.recordCheck(secondId, check)
  await addRoute('Second', `help@${SECOND}`, { type: 'store' })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
  await Promise.all([desk, hook].map((each) => each.stop()))
})

async function addRoute(name: string, value: string, action: object): Promise<Json> {
  const { status, body } = await server.ask('POST', '/v1/inbound-routes', {
    name,
    match: { type: 'address', value },
    action,
  })
  expect(status).toBe(201)
  return body
}

const fieldOf = ({ raw }: ReceivedMail, name: string) =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(raw.toString().replace(/\r\n[ \t]+/g, ' '))?.[1] ?? ''

/** The mail of a message as its recipient got it. */
async function delivered(id: string): Promise<ReceivedMail> {
  await server.ended(id)
  const { message_id } = await server.read(`/v1/messages/${id}`)
  const own = id.slice('msg_'.length)
  const mail = remote.mails.find((each) => [message_id, `<${own}@${DOMAIN}>`].includes(fieldOf(each, 'Message-ID')))
  if (mail === undefined) throw new Error(`no mail of ${id} arrived`)
  return mail
}

const inbound = () => {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  return createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
}

/** What a mail program does for "Reply": to the Reply-To, with the IDs of the thread and the quoted mail. */
async function answer(mail: ReceivedMail, change: SendMailOptions = {}): Promise<void> {
  const client = inbound()
  const id = fieldOf(mail, 'Message-ID')
  const quote = 'On Sat, Nov 21, 2026 at 12:00 PM Shop <shop@sender.example> wrote:\n\n> Hi Ann\n'
  const written = {
    from: `Ann <${mail.rcptTo[0]}>`,
    to: fieldOf(mail, 'Reply-To'),
    subject: `Re: ${fieldOf(mail, 'Subject')}`,
    inReplyTo: id,
    references: id,
    text: `Where is my parcel?\n\n${quote}`,
  }
  await client.sendMail({ ...written, ...change }).finally(() => client.close())
}

/** The posts of the route from the given one on, each verified by its signature. */
async function postsFrom(first: number): Promise<Json[]> {
  await desk.received(first + 1)
  const now = { now: server.clock.now, toleranceSeconds: 1_000_000 }
  return Promise.all(desk.requests.slice(first).map((each) => unwrap(each.bytes, each.headers, secrets.desk, now)))
}

async function repliesPosted(count: number): Promise<Json[]> {
  await hook.received(count)
  const now = { now: server.clock.now, toleranceSeconds: 1_000_000 }
  return Promise.all(hook.requests.map((each) => unwrap(each.bytes, each.headers, secrets.hook, now)))
}

const newestInbound = async () => (await server.read('/v1/inbound-messages?limit=1')).data[0]

test('an answer to mail sent by the API reaches the route, the webhook, the record and the statistics', async () => {
  const { body: sent } = await server.send({ replies: 'Desk', reply_to_name: 'Shop help' })
  const mail = await delivered(sent.id)
  expect(fieldOf(mail, 'Reply-To')).toMatch(/^Shop help <reply\+[0-9a-z]{46}@sender\.example>$/)
  await answer(mail)

  const answered = {
    message_id: sent.id,
    to: 'ann@one.remote.example',
    subject: 'Hello',
    tags: ['receipt'],
    metadata: { order: 'o-17', total: 12.5, gift: true },
    sent_at: new Date(START).toISOString(),
  }
  const [post] = await postsFrom(0)
  expect(post).toMatchObject({
    from: 'ann@one.remote.example',
    subject: 'Re: Hello',
    reply_text: 'Where is my parcel?',
    in_reply_to: answered,
    auto_submitted: false,
  })
  expect(post.text_body).toContain('> Hi Ann')

  const received = await newestInbound()
  const record = await server.read(`/v1/inbound-messages/${received.id}`)
  expect(record).toMatchObject({ reply_text: 'Where is my parcel?', in_reply_to: answered, auto_submitted: false })

  const [event] = await repliesPosted(1)
  expect(event).toMatchObject({
    type: 'message.replied',
    data: {
      message_id: sent.id,
      to: 'ann@one.remote.example',
      from: 'ann@one.remote.example',
      inbound_message_id: received.id,
    },
  })
  expect((await server.eventsOf(sent.id)).map(({ type }) => type)).toEqual(['message.delivered', 'message.replied'])
  // Its other webhook names the standard events only.
  expect(server.receiver.requests.map(({ body }) => JSON.parse(body).type)).not.toContain('message.replied')
  const [recipient] = (await server.read(`/v1/messages/${sent.id}/explain`)).recipients
  expect(recipient).toMatchObject({
    explanation: [expect.stringMatching(/accepted/), expect.anything(), `A reply arrived at ${event.data.replied_at}.`],
    replies: [{ inbound_message_id: received.id, from: 'ann@one.remote.example', replied_at: event.data.replied_at }],
  })
  const { totals } = await server.read('/v1/stats?tag=receipt')
  expect(totals.replied).toBe(1)
})

test('an answer to mail handed in by SMTP with `X-Service-Replies` does the same', async () => {
  const before = desk.requests.length
  const port = Number(server.running().listening.smtpSubmission!.split(':').at(-1))
  const client = createTransport(clientOptions(port, server.keys.live))
  const headers = { 'X-Service-Replies': 'Desk', 'X-Service-Metadata': '{"order":"o-18"}' }
  const to = ['cy@two.remote.example', 'di@three.remote.example']
  const mail = { from: `Shop <shop@${DOMAIN}>`, to, subject: 'Hello again', text: 'Hi', headers }
  const { response } = await client.sendMail(mail).finally(() => client.close())
  const id = /msg_\w+/.exec(response)![0]
  await server.ended(id)
  const mails = remote.mails.filter((each) => fieldOf(each, 'Subject') === 'Hello again')
  const addresses = mails.map((each) => fieldOf(each, 'Reply-To'))
  expect(new Set(addresses).size).toBe(2)
  expect(mails.map((each) => fieldOf(each, 'X-Service-Replies'))).toEqual(['', ''])
  await answer(mails.find(({ rcptTo }) => rcptTo[0] === 'di@three.remote.example')!)
  const [post] = await postsFrom(before)
  expect(post).toMatchObject({
    reply_text: 'Where is my parcel?',
    in_reply_to: { message_id: id, to: 'di@three.remote.example', metadata: { order: 'o-18' } },
  })
})

test('an answer of a program is received, but is no reply', async () => {
  const [before, events] = [desk.requests.length, hook.requests.length]
  const { body } = await server.send({ to: 'away@one.remote.example', replies: 'Desk' })
  const mail = await delivered(body.id)
  await answer(mail, { headers: { 'Auto-Submitted': 'auto-replied' }, text: 'I am away.' })
  const [post] = await postsFrom(before)
  expect(post).toMatchObject({ auto_submitted: true, reply_text: null, in_reply_to: { message_id: body.id } })
  // A person's answer after it is the next event.
  await answer(mail)
  const posted = await repliesPosted(events + 1)
  expect(posted).toHaveLength(events + 1)
  expect(posted.at(-1)).toMatchObject({ data: { message_id: body.id, inbound_message_id: (await newestInbound()).id } })
})

test('the record of an answer names no message that was erased', async () => {
  const { body } = await server.send({ to: 'gone@one.remote.example', replies: 'Desk' })
  const mail = await delivered(body.id)
  await answer(mail, { from: 'Her other address <private@author.example>' })
  const { id } = await newestInbound()
  expect((await server.read(`/v1/inbound-messages/${id}`)).in_reply_to).toMatchObject({ message_id: body.id })
  const erased = await server.ask('POST', '/v1/recipients/erase', { email: 'gone@one.remote.example' })
  expect(erased.status).toBe(202)
  const answered = async () => (await server.read(`/v1/inbound-messages/${id}`)).in_reply_to
  await untilInTime(server.clock, 'the erasure', async () => (await answered()) === null)
  // The address still leads to the route.
  const before = desk.requests.length
  await answer(mail, { from: 'Her other address <private@author.example>' })
  expect(await postsFrom(before)).toMatchObject([{ in_reply_to: null }])
})

test('a key of one domain does not see the message of another domain that a mail answers', async () => {
  const { body } = await server.send({ replies: 'Second' })
  const mail = await delivered(body.id)
  expect(fieldOf(mail, 'Reply-To')).toEndWith(`@${SECOND}>`)
  await answer(mail)
  const { id } = await newestInbound()
  const readerOf = async (domain_id: string) => {
    const key = { name: 'reader', domain_id, permissions: ['read'] }
    const made = await server.ask('POST', '/v1/api-keys', key)
    return { authorization: `Bearer ${made.body.key}` }
  }
  const asked = await server.ask('GET', `/v1/inbound-messages/${id}`, undefined, await readerOf(secondId))
  expect(asked.body).toMatchObject({ in_reply_to: null, reply_text: 'Where is my parcel?' })
  const { domain_id } = await server.read(`/v1/messages/${body.id}`)
  const other = await server.ask('GET', `/v1/inbound-messages/${id}`, undefined, await readerOf(domain_id))
  expect(other.status).toBe(403)
  const ofAll = await server.read(`/v1/inbound-messages/${id}`)
  expect(ofAll.in_reply_to).toMatchObject({ message_id: body.id })
})

describe('after `inbound.reply_address_days`, the plan’s retention and the longest schedule', () => {
  test('an address is refused like one that never existed', async () => {
    const { body } = await server.send({ to: 'late@one.remote.example', replies: 'Desk' })
    const mail = await delivered(body.id)
    await server.clock.leap(34 * DAY_MS)
    await answer(mail)
    await server.clock.leap(2 * DAY_MS)
    const refusal = (to: string) =>
      answer(mail, { to }).then(
        () => 'accepted',
        ({ response }) => `${response}`.replaceAll(to, 'X'),
      )
    const unknown = await refusal(`nobody@${DOMAIN}`)
    expect(unknown).toStartWith('550 5.1.1')
    expect(await refusal(/<(.+)>/.exec(fieldOf(mail, 'Reply-To'))![1]!)).toBe(unknown)
  })
})
