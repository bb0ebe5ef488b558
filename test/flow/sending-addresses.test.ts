import { afterEach, describe, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import type { ConfigValues } from '../../src/config/load.ts'
import { type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

/** Several addresses of this machine that mail is sent from: every address of 127.0.0.0/8 is one. */

const BLOCKED = '554 5.7.1 Client host [127.0.0.2] blocked using zen.spamhaus.org'
const MINUTE = 60_000

let remote: RawMx
let server: TestServer
/** Of each mail that arrived: the address it came from, and the name in EHLO. */
let arrived: [from: string, hello: string][]

async function open(
  sending: ConfigValues['sending'],
  refusalFor: (from: string) => Move | null = () => null,
  config: ConfigValues = {},
) {
  arrived = []
  const hellos = new Map<number, string>()
  remote = await startRawMx({
    script: (cue, line, connection, from) => {
      if (cue === 'EHLO') hellos.set(connection, line.slice('EHLO '.length))
      // A pipelining client ends an empty mail after a refusal.
      if (cue === 'DOT' && refusalFor(from) === null) arrived.push([from, hellos.get(connection)!])
      return cue === 'RCPT' ? refusalFor(from) : null
    },
  })
  server = await startTestServer({ remote, config: { ...config, sending } })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const address = (text: string, change: Record<string, unknown> = {}) => ({ address: text, ...change })
const attemptsOf = async (id: string) =>
  (await server.read(`/v1/messages/${id}/attempts`)).data
    .reverse()
    .map(({ number, outcome, source_ip }: Json) => `${number} ${outcome} ${source_ip}`)
const explained = async (id: string) => (await server.read(`/v1/messages/${id}/explain`)).recipients[0]

describe('with several addresses', () => {
  test('a connection comes from one of them and says its name, and the attempt and explain show it', async () => {
    await open({ addresses: [address('127.0.0.2', { hostname: 'out2.sender.example' })] })
    const { body } = await server.send({ to: 'ann@a.remote.example' })
    await server.ended(body.id)
    expect(arrived).toEqual([['127.0.0.2', 'out2.sender.example']])
    expect(await attemptsOf(body.id)).toEqual(['1 delivered 127.0.0.2'])
    expect((await explained(body.id)).explanation[0]).toContain('on the first attempt, from 127.0.0.2.')
  })

  test('one that the destination blocks rests there, and the message goes at once from another one', async () => {
    await open({ addresses: [address('127.0.0.2'), address('127.0.0.3')] }, (from) =>
      from === '127.0.0.2' ? BLOCKED : null,
    )
    // Which one is first depends on the organization's ID and the destination.
    const ids: string[] = []
    const all: string[][] = []
    for (let n = 0; n < 64 && !all.some((attempts) => attempts.length === 2); n++) {
      server.zone.set(`d${n}.test`, 'MX', [{ preference: 10, exchange: `mx.d${n}.test` }])
      server.zone.set(`mx.d${n}.test`, 'A', ['127.0.0.1'])
      const { body } = await server.send({ to: `ann@d${n}.test` })
      await server.ended(body.id)
      ids.push(body.id)
      all.push(await attemptsOf(body.id))
    }
    expect(new Set(arrived.map(([from]) => from))).toEqual(new Set(['127.0.0.3']))
    expect(all.at(-1)).toEqual(['1 deferred 127.0.0.2', '2 delivered 127.0.0.3'])
    for (const each of all.slice(0, -1)) expect(each).toEqual(['1 delivered 127.0.0.3'])
    const id = ids.at(-1)!
    const { explanation } = await explained(id)
    expect(explanation[0]).toBe(
      `Attempt 1 from 127.0.0.2 was refused because of this address (rule block-list): ${BLOCKED}. Attempt 2 followed from 127.0.0.3.`,
    )
    const { data: attempts } = await server.read(`/v1/messages/${id}/attempts`)
    expect(attempts[1].transcript).toContain('127.0.0.2 cannot send there (block-list) and rests')
    expect((await server.eventsOf(id)).map(({ type }) => type)).toEqual(['message.deferred', 'message.delivered'])

    const n = ids.length - 1
    const { site, explanation: next } = await server.read(`/v1/explain?to=bob@d${n}.test`)
    const until = new Date(server.clock.now() + 15 * MINUTE).toISOString()
    expect(site.sending_addresses).toContainEqual({
      address: '127.0.0.2',
      resting_until: until,
      resting_because: 'block-list',
    })
    expect(next).toContain('Mail is sent from 127.0.0.3, for which these limits count.')
    const again = await server.send({ to: `bob@d${n}.test` })
    await server.ended(again.body.id)
    expect(await attemptsOf(again.body.id)).toEqual(['1 delivered 127.0.0.3'])
  })

  test('one that a destination blocks still rests after a restart, until the destination accepts it', async () => {
    let isBlocked = true
    await open({ addresses: [address('127.0.0.2')] }, () => (isBlocked ? BLOCKED.replace('554 5.', '451 4.') : null))
    const first = await server.send({ to: 'ann@a.remote.example' })
    await server.tried(first.body.id, 1)
    const kept = await server.store().addressRests.endingAfter(server.clock.now(), 10)
    const until = server.clock.now() + 15 * MINUTE
    expect(kept).toMatchObject([{ address: '127.0.0.2', rule: 'block-list', times: 1, until }])
    await server.stop()
    await server.reopen()
    const resting = { address: '127.0.0.2', resting_until: new Date(until).toISOString() }
    expect((await server.read('/v1/explain?to=bob@a.remote.example')).site.sending_addresses).toMatchObject([resting])

    isBlocked = false
    await server.toNextAttempt(first.body.id)
    await server.ended(first.body.id)
    await server.stop()
    await server.reopen()
    expect(await server.store().addressRests.endingAfter(0, 10)).toEqual([])
  })

  test('all of which are blocked, each is tried once, and then the reply decides', async () => {
    await open({ addresses: [2, 3, 4].map((n) => address(`127.0.0.${n}`)) }, () => BLOCKED)
    const { body } = await server.send({ to: 'ann@a.remote.example' })
    await server.ended(body.id)
    const attempts: string[] = await attemptsOf(body.id)
    expect(attempts.map((each) => each.split(' ')[2]).sort()).toEqual(['127.0.0.2', '127.0.0.3', '127.0.0.4'])
    expect(attempts.map((each) => each.split(' ')[1])).toEqual(['deferred', 'deferred', 'bounced'])
    const next = await server.send({ to: 'bob@a.remote.example' })
    await server.ended(next.body.id)
    expect(await attemptsOf(next.body.id)).toHaveLength(1)
  })

  test('temporary blocks of all of them wait for the schedule, whose first wait is still the first', async () => {
    await open({ addresses: [address('127.0.0.2'), address('127.0.0.3')] }, () => BLOCKED.replace('554 5.', '451 4.'))
    const { body } = await server.send({ to: 'ann@a.remote.example' })
    const { recipients } = await server.tried(body.id, 2)
    const waitMs = Date.parse(recipients[0].next_attempt_at) - server.clock.now()
    expect(waitMs).toBeGreaterThan(50_000)
    expect(waitMs).toBeLessThan(70_000)
  })

  test('one that this machine does not have is replaced by another one', async () => {
    await open({ addresses: [address('192.0.2.7'), address('127.0.0.3')] })
    for (let n = 0; n < 8; n++) {
      server.zone.set(`d${n}.test`, 'A', ['127.0.0.1'])
      const { body } = await server.send({ to: `ann@d${n}.test` })
      const { status } = await server.ended(body.id)
      expect(status).toBe('delivered')
    }
    expect(arrived).toHaveLength(8)
    expect(new Set(arrived.map(([from]) => from))).toEqual(new Set(['127.0.0.3']))
  })

  test('kept connections belong to one address', async () => {
    const pools = [address('127.0.0.2'), address('127.0.0.3', { pool: 'bulk' })]
    await open({ addresses: pools, streams: { bulk: { pool: 'bulk' } } })
    for (const stream of ['transactional', 'bulk', 'transactional', 'bulk']) {
      const { body } = await server.send({ to: 'ann@a.remote.example', stream })
      await server.ended(body.id)
    }
    expect(arrived.map(([from]) => from)).toEqual(['127.0.0.2', '127.0.0.3', '127.0.0.2', '127.0.0.3'])
    expect(remote.connections()).toBe(2)
  })
})

test('mail that a route forwards uses the pool assigned to its domain', async () => {
  const pools = [address('127.0.0.2'), address('127.0.0.3', { pool: 'desk' })]
  await open({ addresses: pools, assignments: [{ pool: 'desk', domain: DOMAIN }] }, undefined, {
    smtp: { inbound: { listen: '127.0.0.1:0' } },
    inbound: { confirm_forward_targets: false },
  })
  const route = {
    name: 'desk',
    match: { type: 'address', value: `desk@${DOMAIN}` },
    action: { type: 'forward', config: { to: ['ann@desk.remote.example'] } },
  }
  expect((await server.ask('POST', '/v1/inbound-routes', route)).status).toBe(201)
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  await client.sendMail({ from: 'bob@author.example', to: `desk@${DOMAIN}`, subject: 'A question', text: 'Hello?' })
  client.close()
  const [{ forwarded_as }] = (await server.read('/v1/inbound-messages')).data
  await server.ended(forwarded_as)
  expect(await attemptsOf(forwarded_as)).toEqual(['1 delivered 127.0.0.3'])
})

describe('a plan with a dedicated address', () => {
  const TICK = 11_000

  // threat: dedicated-address-of-another-organization
  test('gives the organization one of its own, which no other mail uses, until it leaves the plan', async () => {
    await open({ addresses: [address('127.0.0.2'), address('127.0.0.9', { pool: 'dedicated' })] })
    const send = async () => {
      const { body } = await server.send({ to: 'ann@a.remote.example' })
      await server.ended(body.id)
      return arrived.at(-1)![0]
    }
    const own = async () => (await server.read('/v1/usage')).dedicated_addresses
    await server.clock.advance(TICK)
    expect([await own(), await send()]).toEqual([[], '127.0.0.2'])

    await server.store().organizations.setPlan(server.organizationId, 'pro')
    await untilInTime(server.clock, 'an address of its own', async () => (await own()).length === 1)
    expect([await own(), await send()]).toEqual([['127.0.0.9'], '127.0.0.9'])
    await server.stop()
    await server.reopen()
    expect(await send()).toBe('127.0.0.9')

    await server.store().organizations.setPlan(server.organizationId, 'enterprise')
    await untilInTime(server.clock, 'the address to leave', async () => (await own()).length === 0)
    expect(await send()).toBe('127.0.0.2')
  })
})

describe('SPF of the return path', () => {
  test('names every configured address, and is wrong while one is missing', async () => {
    await open({ addresses: [address('127.0.0.2'), address('::1')] })
    const { data } = await server.read('/v1/domains')
    const spfOf = ({ dns_records }: Json) => dns_records.find(({ purpose }: Json) => purpose === 'spf')
    const { name, value } = spfOf(data[0])
    expect(value).toBe('v=spf1 a:mail.sender.example ip4:127.0.0.2 ip6:::1 ~all')
    const verified = async (text: string) => {
      server.zone.set(name, 'TXT', [text])
      return spfOf((await server.ask('POST', `/v1/domains/${data[0].id}/verify`)).body).status
    }
    expect(await verified('v=spf1 a:mail.sender.example ip4:127.0.0.2 ~all')).toBe('mismatch')
    expect(await verified('v=spf1 a:mail.sender.example mx -all')).toBe('mismatch')
    expect(await verified(value)).toBe('valid')
    expect(await verified('v=spf1 ip4:127.0.0.0/24 ip6:::/64 -all')).toBe('valid')
  })
})
