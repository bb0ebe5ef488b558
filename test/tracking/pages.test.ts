import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { iso } from '../../src/model/event.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { DOMAIN } from '../storage/records.ts'
import { BROWSER, LATER, openTracking } from './setup.ts'

type Tracking = Awaited<ReturnType<typeof openTracking>>
let setup: Tracking
beforeEach(async () => {
  setup = await openTracking()
})
afterEach(() => setup.close())

const URL = 'https://shop.example/orders/1?a=1&b=2'
const paths = ({ links, deliveryId }: Tracking) => ({
  open: links.open(deliveryId),
  click: links.click(deliveryId, URL),
  stop: links.unsubscribe(deliveryId),
})
const GENERAL = {
  from: 'Ann <ann@a.example>',
  to: 'Bob@dest.example',
  subject: 'Hello',
  metadata: {},
  tags: [],
  mode: 'live',
}
const READER = { user_agent: BROWSER, ip_address: '198.51.100.7' }

describe('the pixel', () => {
  test('is an image of one pixel that is not cached, and counts as an open', async () => {
    const answer = await setup.ask('GET', paths(setup).open)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('image/gif')
    expect(answer.headers.get('cache-control')).toContain('no-store')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([bytes.length, bytes.toString('latin1', 0, 6), bytes.at(-1)]).toEqual([43, 'GIF89a', 0x3b])
    const [event, ...others] = await setup.events()
    expect(others).toEqual([])
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'message.opened',
      timestamp: iso(LATER),
      data: { message_id: setup.message.id, ...GENERAL, opened_at: iso(LATER), ...READER, machine: false },
    })
    expect(await setup.delivery()).toMatchObject({ opens: 1, machineOpens: 0, clicks: 0 })
    expect(setup.seen.wakes).toBe(1)
  })

  test('loaded by a proxy counts as a machine', async () => {
    await setup.ask('GET', paths(setup).open, { headers: { 'user-agent': 'Mozilla/5.0' } })
    expect((await setup.events())[0].data).toMatchObject({ user_agent: 'Mozilla/5.0', machine: true })
    expect(await setup.delivery()).toMatchObject({ opens: 0, machineOpens: 1 })
  })

  test('requested repeatedly wakes webhooks for published events only', async () => {
    for (let i = 0; i < 102; i++) await setup.ask('GET', paths(setup).open)
    expect([(await setup.events()).length, setup.seen.wakes, (await setup.delivery()).opens]).toEqual([100, 100, 102])
  })
})

describe('a click', () => {
  test('redirects to exactly the author’s link, and is published', async () => {
    const answer = await setup.ask('GET', `${paths(setup).click}?utm=x`)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, URL])
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('cache-control')).toContain('no-store')
    const [event] = await setup.events()
    expect(event.type).toBe('message.clicked')
    expect(event.data).toEqual({
      message_id: setup.message.id,
      ...GENERAL,
      clicked_at: iso(LATER),
      url: URL,
      ...READER,
      machine: false,
    })
    expect(await setup.delivery()).toMatchObject({ clicks: 1, opens: 0 })
  })

  test.each([
    ['https://x.example/ü?q=“x”', 'https://x.example/%C3%BC?q=%E2%80%9Cx%E2%80%9D'],
    ['https://x.example/a\r\nSet-Cookie: a=b', 'https://x.example/aSet-Cookie:%20a=b'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['HTTPS://X.example', 'HTTPS://X.example'],
  ])('on %p is in the header as a browser writes it', async (url, location) => {
    const answer = await setup.ask('GET', setup.links.click(setup.deliveryId, url))
    expect([answer.status, answer.headers.get('location'), answer.headers.get('set-cookie')]).toEqual([
      302,
      location,
      null,
    ])
    expect((await setup.events())[0].data.url).toBe(url)
  })

  test('redirects while nothing can be written, and when the mail is no longer kept', async () => {
    const full = async () => {
      throw new StoreUnavailable('the database cannot write: SQLITE_FULL')
    }
    const broken = await openTracking({ wrap: (deliveries) => ({ ...deliveries, recordEngagement: full }) })
    const answer = await broken.ask('GET', paths(broken).click)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, URL])
    expect(broken.seen.logged.join()).toContain('SQLITE_FULL')
    expect((await broken.ask('GET', paths(broken).open)).status).toBe(200)
    await broken.close()

    const gone = setup.links.click('dlv_01kq7000000000000000000000', URL)
    expect((await setup.ask('GET', gone)).status).toBe(302)
    expect(await setup.events()).toEqual([])
  })
})

describe('unsubscribing', () => {
  // threat: tracking-link-abuse
  test('requires a button: a GET shows a page and changes nothing', async () => {
    for (const userAgent of [BROWSER, 'curl/8', '']) {
      const answer = await setup.ask('GET', paths(setup).stop, { headers: { 'user-agent': userAgent } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const policy = answer.headers.get('content-security-policy')!
      for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"]) {
        expect(policy).toContain(part)
      }
      const html = await answer.text()
      expect(html).toContain('<form method="post">')
      expect(html).toContain('Ann &#60;ann@a.example&#62;')
      expect(html).not.toContain('script')
    }
    expect([await setup.events(), await setup.suppressed()]).toEqual([[], []])
  })

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const parts = new FormData()
  parts.set('List-Unsubscribe', 'One-Click')
  test.each<[string, string, Parameters<Tracking['ask']>[2]]>([
    ['a mail program', 'one_click', { headers: form, body: 'List-Unsubscribe=One-Click' }],
    ['one that sends a form in parts', 'one_click', { body: parts }],
    ['our button', 'link', { headers: form, body: 'confirm=yes' }],
    ['nothing but a POST', 'link', {}],
  ])('by %s is published as %s and suppresses, once', async (_, method, init) => {
    const answers = [await setup.ask('POST', paths(setup).stop, init), await setup.ask('POST', paths(setup).stop, init)]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await answers[0]!.text()).toContain('You will not receive further email')
    const events = await setup.events()
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      [
        'message.unsubscribed',
        { message_id: setup.message.id, ...GENERAL, unsubscribed_at: iso(LATER), method, ...READER },
      ],
    ])
    expect(await setup.suppressed()).toEqual([{ reason: 'unsubscribe', domainId: DOMAIN, messageId: setup.message.id }])
    expect(setup.seen.wakes).toBe(1)
  })

  test('is not confirmed while it cannot be written', async () => {
    const full = async () => {
      throw new StoreUnavailable('full')
    }
    const broken = await openTracking({ wrap: (deliveries) => ({ ...deliveries, recordEngagement: full }) })
    await expect(broken.ask('POST', paths(broken).stop)).rejects.toThrow(StoreUnavailable)
    await broken.close()
  })

  test('works after retention removed the mail, while its period lasts', async () => {
    const left = {
      deliveryId: 'dlv_01kq7000000000000000000000',
      organizationId: 'org_a',
      domainId: DOMAIN,
      messageId: 'msg_1',
      stream: 'bulk',
      from: 'Ann <ann@a.example>',
      email: 'Bob@dest.example',
      sentAt: 0,
    }
    const published: unknown[][] = []
    const late = await openTracking({
      wrap: (deliveries) => ({
        ...deliveries,
        get: async () => null,
        unsubscribable: async () => left,
        recordUnsubscribable: async (...all) => {
          published.push(all)
          return published.length === 1 ? 'recorded' : 'known'
        },
      }),
    })
    const stop = late.links.unsubscribe(left.deliveryId)
    expect(await (await late.ask('GET', stop)).text()).toContain('ann@a.example')
    for (const _ of [1, 2]) expect((await late.ask('POST', stop)).status).toBe(200)
    const [id, event, suppression] = published[0]! as [string, { body: string }, object]
    expect([id, late.seen.wakes]).toEqual([left.deliveryId, 1])
    expect(JSON.parse(event.body).data).toMatchObject({
      message_id: 'msg_1',
      to: left.email,
      method: 'link',
      ...READER,
    })
    expect(suppression).toMatchObject({ email: 'bob@dest.example', reason: 'unsubscribe', domainId: DOMAIN })
    expect((await late.ask('GET', late.links.click(left.deliveryId, URL))).status).toBe(302)
    await late.close()
  })

  test('reads no more than it needs', async () => {
    const body = `List-Unsubscribe=One-Click&${'x'.repeat(5_000)}`
    expect((await setup.ask('POST', paths(setup).stop, { body })).status).toBe(413)
    expect(await setup.suppressed()).toEqual([])
  })

  test('is not confirmed for a mail that no longer exists', async () => {
    const gone = setup.links.unsubscribe('dlv_01kq7000000000000000000000')
    expect((await setup.ask('GET', gone)).status).toBe(404)
    expect((await setup.ask('POST', gone)).status).toBe(404)
    expect(await setup.events()).toEqual([])
  })

  test('escapes the author’s name on the page', async () => {
    const odd = await openTracking({ message: { from: '"<img src=x onerror=alert(1)>" <a&b@a.example>' } })
    const html = await (await odd.ask('GET', paths(odd).stop)).text()
    expect(html).not.toContain('<img')
    expect(html).toContain('&#38;')
    await odd.close()
  })
})

test('HEAD is answered like GET without counting', async () => {
  const { open, click, stop } = paths(setup)
  const statuses = await Promise.all([open, click, stop].map(async (path) => (await setup.ask('HEAD', path)).status))
  expect(statuses).toEqual([200, 302, 200])
  expect(await setup.events()).toEqual([])
  expect(await setup.delivery()).toMatchObject({ opens: 0, clicks: 0, machineOpens: 0, machineClicks: 0 })
})

test('test mail publishes, counts and suppresses nothing', async () => {
  const rehearsal = await openTracking({ message: { mode: 'test' } })
  const { open, click, stop } = paths(rehearsal)
  expect((await rehearsal.ask('GET', open)).status).toBe(200)
  expect((await rehearsal.ask('GET', click)).headers.get('location')).toBe(URL)
  expect((await rehearsal.ask('POST', stop)).status).toBe(200)
  expect([await rehearsal.events(), await rehearsal.suppressed(), rehearsal.seen.wakes]).toEqual([[], [], 0])
  expect(await rehearsal.delivery()).toMatchObject({ opens: 0, clicks: 0 })
  await rehearsal.close()
})

// threat: tracking-link-abuse
test('a forged link reveals nothing', async () => {
  const { open, click, stop } = paths(setup)
  const evil = Buffer.from('https://evil.example/').toString('base64url')
  const forged = [
    open.replace('/t/o/', '/t/u/').replace('.gif', ''),
    `${click.slice(0, click.lastIndexOf('/'))}/${evil}`,
    `${stop}x`,
    '/t/',
    '/t/c/x/y',
    `//evil.example${click}`,
    `/t/..%2f${click}`,
  ]
  for (const path of forged) {
    for (const method of ['GET', 'POST', 'HEAD']) {
      const answer = await setup.ask(method, path)
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 404, null])
      expect(await answer.text()).not.toContain('dlv_')
    }
  }
  for (const path of [open, click]) expect((await setup.ask('POST', path)).status).toBe(404)
  expect(await setup.events()).toEqual([])
})
