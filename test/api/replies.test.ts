import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import { openMessageApi } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
let support: InboundRoute
beforeAll(async () => {
  server = await openMessageApi()
  support = await addRoute('Support', 'support@example.com')
})
afterAll(() => server.close())

const MAIL = {
  from: 'Shop <shop@example.com>',
  to: ['ann@remote.example', 'bob@remote.example'],
  subject: 'Your order',
  text: 'Hi',
}

async function addRoute(name: string, address: string, change: Partial<InboundRoute> = {}): Promise<InboundRoute> {
  const route = {
    id: server.mintId('rte'),
    organizationId: server.organizationId,
    name,
    match: { type: 'address' as const, value: address },
    action: { type: 'store' as const, config: {} },
    authentication: 'none' as const,
    enabled: true,
    priority: 0,
    createdAt: server.clock.now(),
    ...change,
  }
  await server.store.inboundRoutes.create(route, 'irs_x')
  return route
}

/** The raw mail with unfolded header fields. */
const rawOf = async (id: string) =>
  (await server.ask('GET', `/v1/messages/${id}/content?part=raw`)).text.replaceAll(/\r\n[ \t]/g, ' ')

describe('a message with `replies`', () => {
  test('names the route in its record and gets a signed address at the domain of the route', async () => {
    for (const replies of [support.id, 'Support']) {
      const sent = await server.send({ ...MAIL, replies })
      expect(sent.status).toBe(202)
      const { body } = await server.ask('GET', `/v1/messages/${sent.body.id}`)
      expect([body.replies, body.reply_to]).toEqual([support.id, null])
      const raw = await rawOf(sent.body.id)
      expect(raw).toMatch(/^Reply-To: Shop <reply\+[0-9a-z]{46}@example\.com>\r$/m)
      expect(raw).toMatch(/\bh=[^;]*\breply-to\b/i)
    }
  })

  test('means the route of its own domain, whatever the routes of other domains are called', async () => {
    await addRoute('Support', 'support@elsewhere.example')
    const { status, body } = await server.send({ ...MAIL, replies: 'Support' })
    expect([status, (await server.ask('GET', `/v1/messages/${body.id}`)).body.replies]).toEqual([202, support.id])
  })

  test('takes the display name of `reply_to_name`', async () => {
    const { body } = await server.send({ ...MAIL, replies: 'Support', reply_to_name: 'Hilfe für Sie' })
    expect(await rawOf(body.id)).toMatch(/^Reply-To: =\?utf-8\?[^\r]*\?=\s<reply\+/im)
  })

  test('keeps the route when it is sent again', async () => {
    const { body } = await server.send({ ...MAIL, replies: 'Support', reply_to_name: 'Help' })
    const again = await server.ask('POST', `/v1/messages/${body.id}/resend`)
    expect(again.status).toBe(202)
    expect((await server.ask('GET', `/v1/messages/${again.body.id}`)).body.replies).toBe(support.id)
    expect(await rawOf(again.body.id)).toMatch(/^Reply-To: Help <reply\+/m)
  })
})

describe('`replies` is refused', () => {
  const faultOf = async (body: object, key?: string) => {
    const { status, body: answer } = await server.send({ ...MAIL, ...body }, key === undefined ? {} : { key })
    return [status, answer.error?.details?.[0]?.field ?? answer.error?.field, answer.error?.code]
  }

  test('beside `reply_to`, and a name without it', async () => {
    expect(await faultOf({ replies: 'Support', reply_to: 'a@example.com' })).toEqual([
      400,
      'replies',
      'validation_error',
    ])
    expect(await faultOf({ reply_to_name: 'Help' })).toEqual([400, 'reply_to_name', 'validation_error'])
    expect((await server.send({ ...MAIL, replies: 'Support', reply_to: [] })).status).toBe(202)
  })

  test('for a route that is disabled, ambiguous, unknown or of another organization', async () => {
    await addRoute('Off', 'off@example.com', { enabled: false })
    await addRoute('Twice', 'one@example.com')
    await addRoute('Twice', 'two@example.com')
    for (const replies of ['Off', 'Twice', 'Nobody', 'rte_00000000000000000000000000'])
      expect(await faultOf({ replies })).toEqual([400, 'replies', 'validation_error'])
    const other = { from: 'shop@other.example', replies: support.id }
    expect(await faultOf(other, server.keys.other)).toEqual([400, 'replies', 'validation_error'])
  })

  test('for a route of a domain that is not verified, except in test mail', async () => {
    await addRoute('New', 'help@new.example')
    expect(await faultOf({ replies: 'New' })).toEqual([400, 'replies', 'validation_error'])
    expect((await server.send({ ...MAIL, replies: 'New' }, { key: server.keys.test })).status).toBe(202)
  })
})
