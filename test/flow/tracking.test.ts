import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'
import { dkimResults } from '../support/verify.ts'

/** Mail as it arrives with the links of its recipient, and the effect of using them. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})
const OFF = { opens: false, clicks: false, unsubscribe: false, host: null }
beforeEach(() => setTracking(OFF))

async function setTracking(tracking: Record<string, unknown>) {
  const [domain] = (await server.read('/v1/domains')).data
  const { status } = await server.ask('PATCH', `/v1/domains/${domain.id}`, { tracking })
  expect(status).toBe(200)
  return domain.id
}

const LINK = 'https://shop.example/orders/1?a=1&b=2'
const HTML =
  '<!doctype html>\r\n<html><body>\r\n<p title=\'"\'>Hi &amp; hello, see <A HREF="https://shop.example/orders/1?a=1&amp;b=2">it</A>\r\n' +
  '<!--[if mso]><a href="https://mso.example/"></a><![endif]--><a data-no-track href="https://plain.example/">b</a>' +
  '<a href="mailto:a@b.example">c</a></p></body></html>'
const WITH_STOP = HTML.replace('</p>', ' <a href="%unsubscribe_url%">stop</a></p>')
const FULL = { html: HTML, text: 'See https://shop.example/orders/1', track_opens: true, track_clicks: true }
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

interface Arrived {
  id: string
  raw: Buffer
  html: string
  text: string
}

/** Sends, and returns what each recipient got. */
async function deliver(change: Record<string, unknown>): Promise<Arrived[]> {
  const { body } = await server.send(change)
  const { recipients, message_id_header } = await server.ended(body.id)
  return Promise.all(
    recipients.map(async ({ email }: Json) => {
      const [mail] = remote.mails.filter(({ rcptTo, raw }) => rcptTo[0] === email && raw.includes(message_id_header))
      const { html, text } = await simpleParser(mail!.raw)
      return { id: body.id, raw: mail!.raw, html: html || '', text: text ?? '' }
    }),
  )
}

/** As the recipient's browser, at the address in the link. */
function follow(link: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) {
  const headers = { 'user-agent': BROWSER, connection: 'close', 'x-forwarded-for': '198.51.100.7', ...init.headers }
  return fetch(link, { redirect: 'manual', method: init.method ?? 'GET', body: init.body ?? null, headers })
}

const hrefs = (html: string) => [...html.matchAll(/href="([^"]+)"/gi)].map(([, href]) => href!)
const pixelOf = (html: string) => /<img src="([^"]+)" width="1" height="1" alt=""[^>]*>/.exec(html)!
const bytes = (html: string) => html.replaceAll('\r\n', '\n').trimEnd()

async function hooked(id: string, type: string): Promise<Json[]> {
  const found = () =>
    server.receiver.requests
      .map(({ body }) => JSON.parse(body))
      .filter((event) => event.type === type && event.data.message_id === id)
  await until(`a webhook with ${type}`, () => found().length > 0)
  return found().map(({ data }) => data)
}

test('each recipient has separate links; every other byte is the author’s, and the signatures verify', async () => {
  const to = ['ann@one.remote.example', 'bob@two.remote.example']
  const mails = await deliver({ ...FULL, html: WITH_STOP, to, unsubscribe: true })
  const base = `http://${server.running().listening.http}`
  for (const { raw, html, text } of mails) {
    const [click, mso, plain, mailto, stop] = hrefs(html) as [string, string, string, string, string]
    expect(click).toStartWith(`${base}/t/c/`)
    expect([mso, plain, mailto]).toEqual(['https://mso.example/', 'https://plain.example/', 'mailto:a@b.example'])
    expect(stop).toStartWith(`${base}/t/u/`)
    const back = html
      .replace(pixelOf(html)[0], '')
      .replace(click, LINK.replace('&', '&amp;'))
      .replace(stop, '%unsubscribe_url%')
    expect(bytes(back)).toBe(bytes(WITH_STOP))
    expect(text.trim()).toBe(FULL.text)
    expect(await dkimResults(raw, server.zone)).toEqual([`ed25519-sha256 ${DOMAIN} pass`, `rsa-sha256 ${DOMAIN} pass`])
  }
  expect(hrefs(mails[0]!.html)[0]).not.toBe(hrefs(mails[1]!.html)[0])
  const shown = await server.ask('GET', `/v1/messages/${mails[0]!.id}/content?part=raw`)
  expect(Buffer.compare(mails[0]!.raw, shown.bytes)).toBe(0)
  const html = await server.ask('GET', `/v1/messages/${mails[0]!.id}/content?part=html`)
  expect(html.text).toBe(WITH_STOP)
})

test('links with the opt-out of another service go out as they are, and Postal’s scheme becomes a plain one', async () => {
  const html =
    '<a data-pm-no-track href="https://a.example/">a</a><a ses:no-track href="https://b.example/">b</a>' +
    '<a href="https+notrack://c.example/">c</a>'
  const text = 'See https+notrack://c.example/'
  const plain = html.replace('https+notrack', 'https')
  const [tracked] = await deliver({ html, text, track_clicks: true })
  const [untracked] = await deliver({ html, text })
  expect(bytes(tracked!.html)).toBe(plain.replace(' ses:no-track', ''))
  expect(bytes(untracked!.html)).toBe(plain)
  expect([tracked!.text.trim(), untracked!.text.trim()]).toEqual(Array(2).fill('See https://c.example/'))
})

test('a click redirects to the author’s link and is published to the webhook', async () => {
  const [mail] = await deliver(FULL)
  const answer = await follow(hrefs(mail!.html)[0]!)
  expect([answer.status, answer.headers.get('location')]).toEqual([302, LINK])
  expect(await hooked(mail!.id, 'message.clicked')).toEqual([
    expect.objectContaining({
      to: 'ann@one.remote.example',
      url: LINK,
      user_agent: BROWSER,
      ip_address: '198.51.100.7',
      machine: false,
      metadata: { order: 'o-17', total: 12.5, gift: true },
    }),
  ])
  const { recipients } = await server.read(`/v1/messages/${mail!.id}`)
  expect(recipients[0]).toMatchObject({ status: 'delivered', clicks: 1, opens: 0 })
})

test('the pixel counts as an open, of a person or of a machine', async () => {
  const [mail] = await deliver(FULL)
  const pixel = pixelOf(mail!.html)[1]!
  const answer = await follow(pixel)
  expect([answer.status, answer.headers.get('content-type'), (await answer.arrayBuffer()).byteLength]).toEqual([
    200,
    'image/gif',
    43,
  ])
  await follow(pixel, { headers: { 'user-agent': 'Mozilla/5.0' } })
  await follow(pixel, { method: 'HEAD' })
  await until('both opens', async () => (await hooked(mail!.id, 'message.opened')).length === 2)
  const opens = await hooked(mail!.id, 'message.opened')
  expect(opens.map(({ machine }) => machine).sort()).toEqual([false, true])
  const { recipients } = await server.read(`/v1/messages/${mail!.id}`)
  expect(recipients[0]).toMatchObject({ opens: 1, machine_opens: 1 })
})

describe('tracking applies', () => {
  test.each([
    [{}, {}, false, false],
    [{ opens: true }, {}, true, false],
    [{ clicks: true }, {}, false, true],
    [{ opens: true, clicks: true }, { track_opens: false, track_clicks: null }, false, true],
    [{}, { track_opens: true, track_clicks: true }, true, true],
  ])('with the domain’s %j and the message’s %j', async (tracking, fields, opens, clicks) => {
    await setTracking(tracking)
    const [mail] = await deliver({ html: HTML, ...fields })
    expect([mail!.html.includes('/t/o/'), mail!.html.includes('/t/c/')]).toEqual([opens, clicks])
    if (!opens && !clicks) expect(bytes(mail!.html)).toBe(bytes(HTML))
  })
})

describe('unsubscribing', () => {
  test('by one click, as in RFC 8058, works on the domain’s own host; the next mail is suppressed', async () => {
    const host = `links.${DOMAIN}`
    const domainId = await setTracking({ unsubscribe: true, host })
    const before = await deliver({ to: 'eve@one.remote.example' })
    expect(before[0]!.raw.toString()).not.toContain(host) // DNS was not checked yet
    server.zone.set(host, 'CNAME', [`mail.${DOMAIN}`])
    expect((await server.ask('POST', `/v1/domains/${domainId}/verify`)).status).toBe(200)

    const [mail] = await deliver({ to: 'eve@one.remote.example' })
    const head = mail!.raw.toString('latin1').split('\r\n\r\n', 1)[0]!
    const [, link] = /^List-Unsubscribe: <(https:[^>]+)>, <mailto:[^>]+>\r$/m.exec(head)!
    expect(head).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    expect(link).toStartWith(`https://${host}/t/u/`)
    const signatures = [...head.matchAll(/^DKIM-Signature:(?:.|\r\n\s)*/gm)].map(([field]) => field.replace(/\s+/g, ''))
    expect(signatures).toHaveLength(2)
    for (const field of signatures) expect(field).toMatch(/h=[^;]*:list-unsubscribe:list-unsubscribe-post[:;]/)
    expect(await dkimResults(mail!.raw, server.zone)).toEqual([
      `ed25519-sha256 ${DOMAIN} pass`,
      `rsa-sha256 ${DOMAIN} pass`,
    ])

    const here = link!.replace(`https://${host}`, `http://${server.running().listening.http}`)
    expect((await follow(here)).status).toBe(404) // a link works under its own host only
    const looked = await follow(here, { headers: { host } })
    expect([looked.status, (await looked.text()).includes('<form method="post">')]).toEqual([200, true])
    expect((await server.read('/v1/suppressions?email=eve@one.remote.example')).data).toEqual([])
    const headers = { host, 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'List-Unsubscribe=One-Click'
    for (const _ of [1, 2]) expect((await follow(here, { method: 'POST', body, headers })).status).toBe(200)
    expect(await hooked(mail!.id, 'message.unsubscribed')).toEqual([
      expect.objectContaining({ method: 'one_click', user_agent: BROWSER, ip_address: '198.51.100.7' }),
    ])
    expect((await server.read('/v1/suppressions?email=eve@one.remote.example')).data).toMatchObject([
      { reason: 'unsubscribe', domain_id: domainId, message_id: mail!.id },
    ])
    const next = await server.send({ to: 'eve@one.remote.example' })
    expect(next.body).toMatchObject({ status: 'suppressed' })
  })

  test('of test mail has no effect', async () => {
    const test = { authorization: `Bearer ${server.keys.test}` }
    const { body } = await server.send({ ...FULL, to: 'tess@one.remote.example', unsubscribe: true }, test)
    const raw = (await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)).text
    const [, link] = /^List-Unsubscribe: <([^>]+)>/m.exec(raw)!
    expect((await follow(link!, { method: 'POST' })).status).toBe(200)
    expect((await server.read('/v1/suppressions?email=tess@one.remote.example')).data).toEqual([])
    expect((await server.eventsOf(body.id)).map(({ type }: Json) => type)).toEqual(['message.delivered'])
  })
})

test('a forged link gets 404 and redirects nowhere', async () => {
  const [mail] = await deliver(FULL)
  const link = hrefs(mail!.html)[0]!
  const evil = `${link.slice(0, link.lastIndexOf('/'))}/${Buffer.from('https://evil.example/').toString('base64url')}`
  for (const forged of [evil, `${link}A`, link.replace('/t/c/', '/t/u/')]) {
    for (const method of ['GET', 'POST']) {
      const answer = await follow(forged, { method })
      expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
    }
  }
  expect((await server.eventsOf(mail!.id)).map(({ type }: Json) => type)).toEqual(['message.delivered'])
})
