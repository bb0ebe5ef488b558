import { afterEach, describe, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { complaintAbout, deliver } from '../support/late-reports.ts'
import { until } from '../support/patience.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer, untilInTime } from '../support/server.ts'

/** A sending address in warm-up, with real delivery over loopback: every address of 127.0.0.0/8 is one of this machine. The
 *  clock stands at noon of the first day: 28 of its 50 mails may be sent. */

const NEW = { address: '127.0.0.2', warmup: { started_on: '2026-11-21' } }
const WARM = { address: '127.0.0.3' }
const MINUTE = 60_000

let remote: RawMx
let relay: RawMx
/** What the relay does, until a test changes it. */
let relayed: (cue: Cue) => Move | null = () => null
/** The destination's reply to a mail, if not 250. */
let atDot: Move | null = null
let server: TestServer
/** The address that each mail arrived from. */
let arrived: string[]

async function open(
  addresses: NonNullable<ConfigValues['sending']>['addresses'],
  options: { values?: ConfigValues; refusalFor?: (from: string) => Move | null; refusedAt?: Cue; overflow?: Json } = {},
) {
  const { values, refusalFor = () => null, refusedAt = 'RCPT', overflow } = options
  arrived = []
  remote = await startRawMx({
    script: (cue, _line, _connection, from) => {
      if (cue === 'DOT' && refusalFor(from) === null) arrived.push(from)
      if (cue === 'DOT' && atDot !== null) return atDot
      return cue === refusedAt ? refusalFor(from) : null
    },
  })
  relay = await startRawMx({ script: (cue) => relayed(cue) })
  const one = { name: 'one', host: '127.0.0.1', port: relay.port, tls: 'none' as const, ...overflow }
  const relays = overflow === undefined ? {} : { relays: [one], relay_rules: [{ fail_over: 'one' }] }
  server = await startTestServer({ remote, config: { ...values, ...relays, sending: { addresses } } })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
  await relay.stop()
  relayed = () => null
})

async function send(count: number, domain = 'a.remote.example', change: Record<string, unknown> = {}) {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const { body } = await server.send({ to: `user${n}@${domain}`, ...change })
    ids.push(body.id)
  }
  return ids
}
const counted = () => Object.entries(Object.groupBy(arrived, (from) => from)).map(([from, all]) => [from, all!.length])
const today = async () => (await server.store().warmups.days([NEW.address])).filter(({ group }) => group === 'others')
const explained = async (id: string) => (await server.read(`/v1/messages/${id}/explain`)).recipients[0]
const sent = async (ids: readonly string[]) => {
  for (const id of ids) await server.ended(id)
}

describe('an address in warm-up', () => {
  test('sends its allowance, a warm one of the pool the rest, and a restart goes on from there', async () => {
    await open([NEW, WARM])
    // One after the other: an address without a free connection lets others take over too.
    for (let n = 0; n < 31; n++) await sent(await send(1))
    expect(counted()).toEqual(
      expect.arrayContaining([
        [NEW.address, 28],
        [WARM.address, 3],
      ]),
    )
    const { site } = await server.read('/v1/explain?to=ann@a.remote.example')
    const own = site.sending_addresses.find(({ address }: Json) => address === NEW.address)
    expect(own.warmup).toMatchObject({ group: 'others', state: 'on_plan', day: 1, allowance: 50 })
    await server.stop()
    await server.reopen()
    expect(await today()).toMatchObject([{ sent: 28, delivered: 28, deferred: 0, blocked: 0, complaints: 0 }])
    await sent(await send(2))
    expect(arrived.slice(-2)).toEqual([WARM.address, WARM.address])
  })

  test('that is alone lets mail wait for the next part, and says so; a message still expires meanwhile', async () => {
    await open([NEW])
    await sent(await send(28))
    const [waiting] = await send(1)
    await server.clock.advance(2 * MINUTE)
    expect(arrived).toHaveLength(28)
    const { explanation } = await explained(waiting!)
    expect(explanation).toContain(
      '127.0.0.2 is in warm-up for the destination group others: day 1 of its plan allows 50 messages, spread over the day. What of it may be sent by now is used up.',
    )
    expect(explanation).toContain(
      'No other address of the pool can take over, so mail waits until 2026-11-21T12:05:00.000Z.',
    )
    const [expiring] = await send(1, 'a.remote.example', { expires_in: 300 })
    await server.clock.advance(6 * MINUTE)
    expect((await server.ended(expiring!)).recipients[0]).toMatchObject({ status: 'bounced', bounce_code: '4.4.7' })
    await server.clock.advance(25 * MINUTE)
    await server.ended(waiting!)
    expect(counted()).toEqual([[NEW.address, 29]])
  })

  test('whose mail five destinations defer is held there until the next day, and the rest goes elsewhere', async () => {
    const refusal = '421 4.7.0 Too much mail from your address'
    await open([NEW, WARM], { refusalFor: (from) => (from === NEW.address ? refusal : null) })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      server.zone.set(`d${n}.test`, 'MX', [{ preference: 10, exchange: `mx.d${n}.test` }])
      server.zone.set(`mx.d${n}.test`, 'A', ['127.0.0.1'])
      ids.push(...(await send(1, `d${n}.test`)))
    }
    for (const id of ids) await server.tried(id, 1)
    const [next] = await send(1, 'b.remote.example')
    await server.ended(next!)
    expect(counted()).toEqual([[WARM.address, 1]])
    const { explanation } = await server.read('/v1/explain?to=ann@b.remote.example')
    expect(explanation.join('\n')).toContain('deferrals, blocks or complaints hold it until 2026-11-22T00:00:00.000Z.')
    expect(explanation).toContain('Mail beyond that goes from another address of the pool.')
  })

  test('counts mail that a host refuses in its greeting, which shows the address', async () => {
    const refusal = '554 5.7.1 client [127.0.0.2] blocked using zen.spamhaus.org'
    await open([NEW, WARM], { refusalFor: (from) => (from === NEW.address ? refusal : null), refusedAt: 'CONNECT' })
    const [id] = await send(1)
    await server.ended(id!)
    const { data } = await server.read(`/v1/messages/${id}/attempts`)
    expect(data.map((each: Json) => each.source_ip)).toEqual([WARM.address, NEW.address])
    const { explanation } = await explained(id!)
    expect(explanation[0]).toStartWith('Attempt 1 from 127.0.0.2 was refused because of this address (rule block-list)')
    await server.clock.advance(MINUTE)
    await until('the block to be counted', async () => (await today())[0]?.blocked === 1)
    expect(await today()).toMatchObject([{ sent: 1, blocked: 1 }])
  })

  // threat: complaints-hold-warm-up
  test('counts a complaint of the provider that accepted the mail, once a day, and none that a recipient wrote', async () => {
    await open([NEW], { values: { smtp: { inbound: { listen: '127.0.0.1:0' } } } })
    await sent(await send(3))
    const paths = remote.heard.flatMap((line) => /^MAIL FROM:<([^>]+)>/.exec(line)?.[1] ?? [])
    for (const domain of ['remote.example', 'attacker.example']) {
      server.zone.set(domain, 'TXT', [['v=spf1 ip4:127.0.0.1 -all']])
    }
    const report = (path: number, from: string, note = '') =>
      deliver(
        server,
        paths[path]!,
        complaintAbout({ mailFrom: paths[path]!, raw: Buffer.from(`${note}\n`) }, from),
        from,
      )
    const reports = async () => (await server.read('/v1/events?type=message.complained')).data.length
    const complaints = async () => (await today())[0]?.complaints

    // The recipient of one mail can write as many reports as they like, about this mail and in any name.
    for (const note of ['a', 'b']) expect(await report(0, 'fbl@attacker.example', note)).toStartWith('250')
    expect(await report(0, 'fbl@nobody.example', 'c')).toStartWith('250')
    await until('the reports', async () => (await reports()) > 0)
    expect(await complaints()).toBe(0)

    // Of a provider, several about one mail count once, and so do several recipients of `others` on one day.
    for (const note of ['a', 'b', 'c']) await report(1, 'fbl@remote.example', note)
    await report(2, 'fbl@remote.example')
    await until('the complaint to be counted', async () => (await complaints()) === 1)
    expect(await today()).toMatchObject([{ sent: 3, complaints: 1 }])
    const { explanation } = await server.read('/v1/explain?to=ann@a.remote.example')
    expect(explanation.join(' ')).not.toContain('hold it until')
  })
})

describe('mail beyond the warm-up of all addresses, with a relay as fail-over,', () => {
  const relaysOf = async (id: string) =>
    (await server.read(`/v1/messages/${id}/attempts`)).data
      .reverse()
      .map((each: Json) => each.relay?.because ?? 'direct')
  const mails = (mx: RawMx) => mx.mails.filter(({ length }) => length > 0).length

  test('goes through the relay once each, within its limit per minute, and the plan holds', async () => {
    await open([NEW], { overflow: { max_mails_per_minute: 60 } })
    const ids = await send(32)
    // The next part of the plan begins in five minutes, so time passes only for the limit of the relay.
    await until('the mail of the plan', () => mails(remote) === 28)
    for (let count = 1; count <= 4; count++) {
      await until(`mail ${count} through the relay`, () => mails(relay) >= count)
      await server.clock.advance(1_000)
    }
    await sent(ids)
    expect([mails(remote), mails(relay)]).toEqual([28, 4])
    // Results are written every few seconds.
    await untilInTime(server.clock, 'the results to be counted', async () => (await today())[0]?.delivered === 28)
    expect(await today()).toMatchObject([{ sent: 28, delivered: 28 }])
    const because = (await Promise.all(ids.map(relaysOf))).flat()
    expect(because.filter((each) => each === 'warmup_used_up')).toHaveLength(4)
    const { explanation } = await server.read('/v1/explain?to=ann@a.remote.example')
    expect(explanation[0]).toBe(
      'Mail goes through the relay one (127.0.0.1): fail-over of relay rule 1, because the warm-up of the sending addresses allows no more messages there now.',
    )
    expect(explanation.join(' ')).toContain(
      'This relay is currently limited to 5 of at most 20 concurrent connections.',
    )

    await server.clock.advance(31 * MINUTE)
    const [next] = await send(1)
    await sent([next!])
    expect(await relaysOf(next!)).toEqual(['direct'])
  })

  test('goes from a warm address of the pool first', async () => {
    await open([NEW, WARM], { overflow: {} })
    for (let n = 0; n < 30; n++) await sent(await send(1))
    expect([mails(remote), mails(relay)]).toEqual([30, 0])
  })

  test('waits for the warm-up while the relay is full, and expires with its message', async () => {
    await open([NEW], { overflow: { max_mails_per_minute: 1 } })
    await sent(await send(29))
    expect(mails(relay)).toBe(1)
    const [expiring, waiting] = [...(await send(1, undefined, { expires_in: 30 })), ...(await send(1))]
    await server.clock.advance(31_000)
    expect((await server.ended(expiring!)).recipients[0]).toMatchObject({ status: 'bounced', bounce_code: '4.4.7' })
    await server.clock.advance(MINUTE)
    await sent([waiting!])
    expect(await relaysOf(waiting!)).toEqual(['warmup_used_up'])
    expect([mails(remote), mails(relay)]).toEqual([28, 2])
  })

  test('stays on the route of an attempt that the destination may have accepted', async () => {
    await open([NEW], { overflow: {}, values: { delivery: { retry_schedule_seconds: [60] } } })
    atDot = { do: 'drop' }
    const [kept] = await send(1)
    await server.tried(kept!, 1)
    atDot = null
    await sent(await send(27, 'b.remote.example'))
    await server.clock.advance(2 * MINUTE)
    const [beyond] = await send(1, 'b.remote.example')
    await sent([beyond!])
    expect(await relaysOf(beyond!)).toEqual(['warmup_used_up'])
    expect(await relaysOf(kept!)).toEqual(['direct'])
    expect((await explained(kept!)).explanation.join(' ')).toContain('only on the same route, directly')
    await server.clock.advance(31 * MINUTE)
    expect((await server.ended(kept!)).status).toBe('delivered')
    expect(await relaysOf(kept!)).toEqual(['direct', 'direct'])
    expect(mails(relay)).toBe(1)
  })
})
