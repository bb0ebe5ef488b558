import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { complaintAbout, deliver } from '../support/late-reports.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer, until } from '../support/server.ts'

/** A sending address in warm-up, with real delivery over loopback: every address of 127.0.0.0/8 is one of this machine. The
 *  clock stands at noon of the first day: 28 of its 50 mails may be sent. */

const NEW = { address: '127.0.0.2', warmup: { started_on: '2026-11-21' } }
const WARM = { address: '127.0.0.3' }
const MINUTE = 60_000
setDefaultTimeout(60_000)

let remote: RawMx
let server: TestServer
/** The address that each mail arrived from. */
let arrived: string[]

async function open(
  addresses: NonNullable<ConfigValues['sending']>['addresses'],
  options: { values?: ConfigValues; refusalFor?: (from: string) => Move | null; refusedAt?: Cue } = {},
) {
  const { values, refusalFor = () => null, refusedAt = 'RCPT' } = options
  arrived = []
  remote = await startRawMx({
    script: (cue, _line, _connection, from) => {
      if (cue === 'DOT' && refusalFor(from) === null) arrived.push(from)
      return cue === refusedAt ? refusalFor(from) : null
    },
  })
  server = await startTestServer({ remote, config: { ...values, sending: { addresses } } })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
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

  test('counts a complaint about its mail, once', async () => {
    await open([NEW], { values: { smtp: { inbound: { listen: '127.0.0.1:0' } } } })
    await sent(await send(2))
    const [returnPath] = remote.heard.flatMap((line) => /^MAIL FROM:<([^>]+)>/.exec(line)?.[1] ?? [])
    const report = complaintAbout({ mailFrom: returnPath!, raw: remote.mails[0]! })
    for (let times = 0; times < 2; times++) await deliver(server, returnPath!, report, 'staff@isp.example')
    const counts = { sent: 2, complaints: 1 }
    await until('the complaint to be counted', async () => (await today())[0]?.complaints === 1)
    expect(await today()).toMatchObject([counts])
  })
})
