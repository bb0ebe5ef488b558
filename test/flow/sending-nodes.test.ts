import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import type { Log } from '../../src/os/log.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, MAIL, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

const ADDRESSES = [
  { address: '127.0.0.2', node: 'one' },
  { address: '127.0.0.4', pool: 'bulk', node: 'two' },
  { address: '127.0.0.9', pool: 'dedicated', node: 'two' },
]
const SENDING: ConfigValues['sending'] = { addresses: ADDRESSES, streams: { bulk: { pool: 'bulk' } } }
const DOMAINS = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.remote.example`)
const TICK = 11_000

/** Nodes that each have addresses of their own. All of 127.0.0.0/8 belongs to this machine, so a node that used the address
 *  of another one would succeed: what arrives shows who sent it. */
describeWithPostgres('addresses of several nodes', () => {
  let postgres: TestPostgres
  let remote: RawMx
  let server: TestServer
  let databases = 0
  let warnings: string[]
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  afterEach(async () => {
    await server.close()
    await remote.stop()
  })

  const open = async (cluster: ConfigValues['cluster'] = {}) => {
    warnings = []
    const note = (message: string, fields?: { nodes?: unknown }) => warnings.push(`${message}: ${fields?.nodes}`)
    const log = { info: () => {}, warn: note, error: () => {} } as unknown as Log
    remote = await startRawMx({ script: () => null })
    const database = { url: await postgres.createDatabase(`nodes${++databases}`) }
    const config = { database, sending: SENDING, cluster: { ...cluster, name: 'one' } }
    server = await startTestServer({ remote, config, log })
  }
  const addTwo = () => server.addNode({ cluster: { name: 'two' } })
  const sourceOf = async (id: string): Promise<string> => {
    const { data } = await server.read(`/v1/messages/${id}/attempts`)
    return data.map(({ outcome, source_ip }: Json) => `${outcome} ${source_ip}`).join()
  }
  /** One message to each domain, accepted by `ask` → where they came from. */
  const sources = async (ask: TestServer['ask'], change: Record<string, unknown> = {}) => {
    const sent = await Promise.all(
      DOMAINS.map((domain) =>
        ask('POST', '/v1/messages/send', { ...MAIL, to: `ann@${domain}`, ...change }).then(({ body }) => body.id),
      ),
    )
    for (const id of sent) await server.ended(id)
    return new Set(await Promise.all(sent.map(sourceOf)))
  }
  /** A node that has just started is not known to the others yet. */
  const untilAllFrom = (address: string, ...given: Parameters<typeof sources>) =>
    until(`mail from ${address} only`, async () => [...(await sources(...given))].join() === `delivered ${address}`)

  test('mail is sent by the node that has an address of its pool, whoever accepted it', async () => {
    await open()
    const two = await addTwo()
    await untilAllFrom('127.0.0.4', server.ask, { stream: 'bulk' })
    for (const ask of [server.ask, two.ask]) {
      expect(await sources(ask, { stream: 'bulk' })).toEqual(new Set(['delivered 127.0.0.4']))
      expect(await sources(ask)).toEqual(new Set(['delivered 127.0.0.2']))
    }
  })

  // threat: dedicated-address-of-another-organization
  test('the dedicated address of an organization is used at its node, and others send when that node has left', async () => {
    await open()
    const two = await addTwo()
    await server.store().organizations.setPlan(server.organizationId, 'pro')
    await until('a leader', async () => server.store().leases.leads() || two.server.store.leases.leads())
    await server.clock.advance(TICK)
    await until('an own address', async () => (await server.read('/v1/usage')).dedicated_addresses.length > 0)
    await server.clock.advance(TICK)
    for (const ask of [server.ask, two.ask]) expect(await sources(ask)).toEqual(new Set(['delivered 127.0.0.9']))

    await two.server.stop()
    expect(await sources(server.ask)).toEqual(new Set(['delivered 127.0.0.2']))
    await until('a warning', () => warnings.some((each) => each.endsWith('sent from other addresses: two')))
    await addTwo()
    await untilAllFrom('127.0.0.9', server.ask)
  })

  test('mail does not wait for a node that died with the address', async () => {
    await open({ takeover_seconds: 3 })
    // A node that registered and was killed.
    postgres.psql(
      `insert into nodes (key, name, hostname, version, key_name, handles_mail, configuration_version, schema, placement)
        select 'dead', 'two', hostname, version, key_name, true, configuration_version, schema, placement from nodes where name = 'one'`,
      `nodes${databases}`,
    )
    const { body } = await server.send({ to: `ann@${DOMAINS[0]}`, stream: 'bulk' })
    expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('queued')
    await server.ended(body.id)
    expect(await sourceOf(body.id)).toBe('delivered 127.0.0.2')
  })

  test('the limits of a relay hold over both nodes: one connection, and 600 messages per minute', async () => {
    remote = await startRawMx({ script: () => null })
    let [most, working] = [0, 0]
    const relay = await startRawMx({
      script: (cue) => {
        if (cue === 'MAIL') most = Math.max(most, ++working, relay.open())
        if (cue === 'DOT') working--
        return null
      },
    })
    const one = { name: 'one', host: '127.0.0.1', port: relay.port, tls: 'none' as const }
    const config = {
      database: { url: await postgres.createDatabase(`nodes${++databases}`) },
      relays: [{ ...one, max_connections: 1, max_mails_per_minute: 600 }],
      relay_rules: [{ use: 'one' }],
      cluster: { name: 'one' },
    }
    server = await startTestServer({ remote, config })
    const two = await server.addNode({ cluster: { name: 'two' } })
    const sent = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        (n % 2 === 0 ? server.ask : two.ask)('POST', '/v1/messages/send', { ...MAIL, to: `ann@d${n}.remote.example` }),
      ),
    )
    const startedAt = server.clock.now()
    const left = new Set(sent.map(({ body }) => body.id as string))
    await untilInTime(server.clock, 'all mail', async () => {
      for (const id of left) if ((await server.read(`/v1/messages/${id}`)).status === 'delivered') left.delete(id)
      return left.size === 0
    })
    expect(relay.mails.filter(({ length }) => length > 0)).toHaveLength(24)
    expect(remote.connections()).toBe(0)
    expect(most).toBe(1)
    // Ten start at once, and ten a second.
    expect(server.clock.now() - startedAt).toBeGreaterThanOrEqual(1_400)
    await server.stop()
    await relay.stop()
  })
})
