import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import type { ConfigValues } from '../../src/config/load.ts'
import type { Server } from '../../src/server/server.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RawMx, type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, MAIL, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

describeWithPostgres('a server on PostgreSQL', () => {
  let postgres: TestPostgres
  let databases = 0
  let remote: RawMx | RemoteMx
  let server: TestServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    await server.close()
    await remote.stop()
  })
  const open = async (receivesMail: RawMx | RemoteMx, config: ConfigValues = {}) => {
    remote = receivesMail
    const url = await postgres.createDatabase(`server${++databases}`)
    server = await startTestServer({ remote, config: { database: { url }, ...config } })
  }

  test('a message is accepted, delivered, published and listed', async () => {
    await open(await startRemoteMx())
    const { status, body: answer } = await server.send({ to: ['ann@one.remote.example', 'bob@two.remote.example'] })
    expect(status).toBe(202)
    expect((await server.ended(answer.id)).status).toBe('delivered')
    await server.receiver.received(2)
    const events = await server.eventsOf(answer.id)
    expect(events.map(({ type }) => type)).toEqual(['message.delivered', 'message.delivered'])
    expect(server.receiver.requests.map(({ body }) => JSON.parse(body).id).sort()).toEqual(
      events.map(({ id }) => id).sort(),
    )
    const { data: listed } = await server.read('/v1/messages?subject=hello&status=delivered')
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([answer.id])
    await until('the webhook deliveries to be recorded', async () => {
      const { data } = await server.read(`/v1/webhooks/${server.webhook.id}/deliveries?status=delivered`)
      return data.length === 2
    })
  })

  test('an inbound mail is posted to one route, forwarded by another, and posted again on request', async () => {
    const inbound = { confirm_forward_targets: false }
    await open(await startRemoteMx(), { smtp: { inbound: { listen: '127.0.0.1:0' } }, inbound })
    const route = async (name: string, action: object) => {
      const match = { type: 'address', value: `${name}@${DOMAIN}` }
      expect((await server.ask('POST', '/v1/inbound-routes', { name, match, action })).status).toBe(201)
    }
    await route('hook', { type: 'webhook', config: { url: server.receiver.url } })
    await route('desk', { type: 'forward', config: { to: ['ann@one.remote.example'] } })
    const [host, port] = server.running().listening.smtpInbound!.split(':')
    const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
    const to = [`hook@${DOMAIN}`, `desk@${DOMAIN}`]
    await client.sendMail({ from: 'bob@author.example', to, subject: 'A question', text: 'Hello?' })
    client.close()
    const posts = () => server.receiver.requests.filter(({ headers }) => headers['x-inbound-signature'] !== undefined)
    const { data } = await server.read('/v1/inbound-messages?from=bob@author.example')
    const of = (action: string) => data.find((each: { action: string }) => each.action === action)
    expect(data).toHaveLength(2)
    expect(await server.ended(of('forward').forwarded_as)).toMatchObject({ status: 'delivered' })
    const { id } = of('webhook')
    await until('the delivery to be recorded', async () => {
      return (await server.read(`/v1/inbound-messages/${id}`)).status === 'delivered'
    })
    expect(posts()).toHaveLength(1)
    expect((await server.ask('POST', `/v1/inbound-messages/${id}/redeliver`)).status).toBe(202)
    await until('the mail to be posted again', () => posts().length === 2)
  })

  test('metrics show the nodes, the commits and the database', async () => {
    await open(await startRemoteMx())
    const { body: answer } = await server.send()
    await server.ended(answer.id)
    const response = await fetch(`http://${server.running().listening.http}/metrics`)
    const lines = (await response.text()).split('\n')
    const value = (name: string) =>
      Number(
        lines
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1),
      )
    const ofNode = '{scope="cluster",node="mail.sender.example"}'
    expect(value(`postrider_node_up${ofNode}`)).toBe(1)
    expect(value('postrider_takeovers_total')).toBe(0)
    for (const lane of ['mail', 'settings']) {
      const groups = value(`postrider_lane_seconds_count{lane="${lane}"}`)
      expect(groups).toBeGreaterThan(0)
      expect(value(`postrider_group_size_count{lane="${lane}"}`)).toBe(groups)
      expect(value(`postrider_group_size_sum{lane="${lane}"}`)).toBeGreaterThanOrEqual(groups)
    }
    expect(value('postrider_pg_oldest_transaction_seconds{scope="cluster"}')).toBeGreaterThanOrEqual(0)
    expect(value('postrider_feed_behind_seconds{scope="cluster"}')).toBeGreaterThanOrEqual(0)
    expect(value('postrider_queued{queue="delivery",when="due",scope="cluster"}')).toBe(0)
  })

  test('a repeated request gets the same answer, and is sent once', async () => {
    await open(await startRemoteMx())
    const headers = { 'idempotency-key': 'order-17' }
    const [first, second] = [await server.send({}, headers), await server.send({}, headers)]
    expect(second.body).toEqual(first.body)
    await server.ended(first.body.id)
    const { data } = await server.read('/v1/messages')
    expect(data).toHaveLength(1)
  })

  test('of a request that arrives at two nodes at once, each gets the same answer', async () => {
    await open(await startRemoteMx())
    const other = await server.addNode()
    const twice = (method: string, path: string, bodyOf: (n: number) => unknown) =>
      Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const headers = { 'idempotency-key': `${path} ${n}` }
          const both = await Promise.all([server.ask, other.ask].map((ask) => ask(method, path, bodyOf(n), headers)))
          expect(both.map(({ status }) => status).filter((status) => status > 299)).toEqual([])
          expect(both[0]?.text).toBe(both[1]?.text ?? '')
          return both.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length
        }),
      )
    const mail = (n: number) => ({ ...MAIL, subject: `twice ${n}`, to: 'ann@one.remote.example' })
    const once = Array.from({ length: 12 }, () => 1)
    expect(await twice('POST', '/v1/messages/send', mail)).toEqual(once)
    expect(
      await twice('POST', '/v1/templates', (n) => ({ name: 't', alias: `t${n}`, subject: 's', text: 't' })),
    ).toEqual(once)
    const count = async (path: string) => (await server.read(path)).data.length
    expect([await count('/v1/messages?limit=100'), await count('/v1/templates?limit=100')]).toEqual([12, 12])
    const batch = { messages: Array.from({ length: 500 }, (_, n) => mail(n)) }
    const headers = { 'idempotency-key': 'a batch' }
    const both = await Promise.all(
      [server.ask, other.ask].map((ask) => ask('POST', '/v1/messages/batch', batch, headers)),
    )
    expect(both.map(({ status }) => status)).toEqual([202, 202])
    expect(both[0]?.text).toBe(both[1]?.text ?? '')
    const ids = both[0]?.body.data.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(500)
    expect(await server.store().messages.volume(server.organizationId, '2026-11')).toBe(512)
    const changed = await other.ask('POST', '/v1/messages/batch', { messages: [mail(0)] }, headers)
    expect([changed.status, changed.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
  })

  test('the node that leads reports TLS sessions, unless another one still does', async () => {
    await open(await startRemoteMx(), { reports: { from: 'postmaster@sender.example' } })
    server.zone.set('_smtp._tls.told.example', 'TXT', ['v=TLSRPTv1; rua=mailto:tls@inbox.remote.example'])
    const other = await server.addNode()
    const stores = [server.store(), other.server.store]
    await until('a leader', () => stores.some(({ leases }) => leases.leads()))
    const former = stores.find(({ leases }) => !leases.leads())!
    expect(await former.leases.take('TLS reports', 600_000)).toBe(true)
    const session = { policy: 'none', host: null, address: null, source: null, failure: null, sessions: 3 } as const
    const day = server.clock.now() - (server.clock.now() % 86_400_000) - 86_400_000
    await former.tlsSessions.add([{ ...session, domain: 'told.example', day }])
    const isCounted = async () => (await former.tlsSessions.of('told.example', day)).length > 0
    for (let step = 0; step < 18; step++) await server.clock.leap(10_000)
    await Bun.sleep(200) // for a report that must not come: on a slow machine the test sees less
    expect(await isCounted()).toBe(true)
    await former.leases.release('TLS reports')
    await untilInTime(server.clock, 'the report', async () => !(await isCounted()))
    const { data } = await server.read('/v1/messages?tag=tls-report')
    expect(data).toHaveLength(1)
  })

  test('the requests of a key at both nodes count against one limit', async () => {
    const plans = { enterprise: { requests_per_minute: 30 } }
    await open(await startRemoteMx(), { plans })
    const other = await server.addNode()
    const nodes = [server.ask, other.ask]
    /** Requests one after the other → how many were allowed. */
    const passed = async (ask: TestServer['ask'], requests: number) => {
      let count = 0
      for (let n = 0; n < requests; n++) if ((await ask('GET', '/v1/webhooks')).status === 200) count++
      return count
    }
    const shared = (counts: string) =>
      until(`${counts} requests in the database`, () => {
        const sql = `select string_agg(used::text, ' ' order by node_id) from rates`
        return postgres.psql(sql, `server${databases}`).trim() === counts
      })
    await server.clock.leap(61_000)
    expect(await passed(server.ask, 20)).toBe(20)
    await shared('20')
    // The first one asks for what the other node has counted, and one of the next ones knows it.
    let asked = 0
    for (let remaining = 30; remaining > 10 - asked; ) {
      const { headers } = await other.ask('GET', '/v1/webhooks')
      remaining = Number(headers.get('ratelimit-remaining'))
      await shared(`20 ${++asked}`)
    }
    expect(asked).toBeLessThan(5)
    expect(await passed(other.ask, 20)).toBe(10 - asked)
    await shared('20 10')
    let more = 0
    while ((await passed(server.ask, 1)) > 0) await shared(`${20 + ++more} 10`)
    expect(more).toBeLessThan(5)
    expect(await passed(server.ask, 20)).toBe(0)
    // The windows of both end together.
    await server.clock.leap(61_000)
    const both = await Promise.all(nodes.map((ask) => passed(ask, 60)))
    const sum = both.reduce((total, each) => total + each, 0)
    expect(sum).toBeGreaterThanOrEqual(30)
    expect(sum).toBeLessThanOrEqual(60)
  })

  test('attempts to sign in count at both nodes together', async () => {
    await open(await startRemoteMx())
    const other = await server.addNode()
    const signIn = async (at: Server) => {
      const headers = { 'content-type': 'application/json', 'x-operator': '1' }
      const body = JSON.stringify({ password: 'a wrong password' })
      return (await fetch(`http://${at.listening.http}/session`, { method: 'POST', headers, body })).status
    }
    const statuses = []
    for (let n = 0; n < 12; n++) statuses.push(await signIn(n % 2 === 0 ? server.running() : other.server))
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
    await server.clock.advance(6_000)
    expect([await signIn(other.server), await signIn(server.running())]).toEqual([401, 429])
  })

  test.each([
    ['over both nodes, whatever domains it has', 'cluster', 2],
    ['for each node if it is so configured', 'node', 4],
  ] as const)('the limit of a destination holds %s', async (_, share, limit) => {
    let most = 0
    // Mail waits here for the others that may be under way, and then a moment for those that may not.
    const rcpt = async () => {
      if (most < limit) await until('as many as may be under way', () => remote.open() >= limit)
      await Bun.sleep(50)
      most = Math.max(most, remote.open())
      return null
    }
    await open(await startRemoteMx({ script: { rcpt } }), { delivery: { max_per_destination: 2, share } })
    const other = await server.addNode()
    await server.clock.advance(3_000) // a part that grows is used after a while
    const ids: string[] = []
    for (let n = 0; n < 60; n++) {
      const mail = { ...MAIL, to: `ann@d${n}.remote.example` }
      const { body } = await (n % 2 === 0 ? server.ask : other.ask)('POST', '/v1/messages/send', mail)
      ids.push(body.id)
    }
    for (const id of ids) expect((await server.ended(id)).status).toBe('delivered')
    expect(most).toBe(limit)
  })

  test('a deferred message is delivered after a restart', async () => {
    const replies = ['451 4.2.1 later']
    await open(await startRawMx({ script: (at) => (at === 'RCPT' ? (replies.shift() ?? null) : null) }))
    const { body: answer } = await server.send()
    await server.tried(answer.id, 1)
    await server.stop()
    await server.reopen()
    await server.toNextAttempt(answer.id)
    expect((await server.ended(answer.id)).status).toBe('delivered')
  })
})
