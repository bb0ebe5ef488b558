import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { until } from '../support/patience.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'

/** When a relay takes over from direct delivery, and that nothing is sent twice then. */

const BLOCKED = '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org'
const MINUTE = 60_000

let remote: RawMx
let relay: RawMx
let server: TestServer
/** What the servers do, until a test changes it. */
let direct: (cue: Cue, line: string, from: string) => Move | null
let relayed: (cue: Cue) => Move | null

beforeEach(async () => {
  direct = () => null
  relayed = () => null
  remote = await startRawMx({ script: (cue, line, _connection, from) => direct(cue, line, from) })
  relay = await startRawMx({ script: (cue) => relayed(cue) })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
  await relay.stop()
})

async function open(rule: Record<string, unknown> = {}, config: ConfigValues = {}) {
  const one = { name: 'one', host: '127.0.0.1', port: relay.port, tls: 'none' as const, ...(config.relays?.[0] ?? {}) }
  server = await startTestServer({
    remote,
    config: { ...config, relays: [one], relay_rules: [{ fail_over: 'one', ...rule }] },
  })
}
const send = async (to = 'ann@one.remote.example') => (await server.send({ to })).body.id as string
const attemptsOf = async (id: string): Promise<string[]> =>
  (await server.read(`/v1/messages/${id}/attempts`)).data
    .reverse()
    .map((each: Json) => `${each.number} ${each.outcome} ${each.relay?.because ?? 'direct'}`)
/** Mails with a content: a pipelining client ends an empty mail after a refusal. */
const taken = (mx: RawMx) => mx.mails.filter(({ length }) => length > 0).length

test('a peer that accepts the mail and dies before its reply gets it again, and the relay never does', async () => {
  await open()
  direct = (cue) => (cue === 'DOT' ? { do: 'drop' } : null)
  const id = await send()
  await server.tried(id, 1)
  expect(await attemptsOf(id)).toEqual(['1 unknown direct'])

  // Another message shows that the destination blocks us: its mail uses the relay from now on.
  direct = (cue) => (cue === 'RCPT' ? BLOCKED : null)
  const other = await send('bob@one.remote.example')
  await server.ended(other)
  expect(await attemptsOf(other)).toEqual(['1 deferred direct', '2 delivered address_blocked'])

  direct = () => null
  await server.toNextAttempt(id)
  expect((await server.ended(id)).status).toBe('delivered')
  expect(await attemptsOf(id)).toEqual(['1 unknown direct', '2 delivered direct'])
  expect(taken(relay)).toBe(1)
})

test('such a mail that is refused later because of our address bounces: no relay takes over', async () => {
  await open()
  direct = (cue) => (cue === 'DOT' ? { do: 'drop' } : null)
  const id = await send()
  await server.tried(id, 1)
  direct = (cue) => (cue === 'RCPT' ? BLOCKED : null)
  await server.toNextAttempt(id)
  expect((await server.ended(id)).status).toBe('bounced')
  expect(await attemptsOf(id)).toEqual(['1 unknown direct', '2 bounced direct'])
  expect(taken(relay)).toBe(0)
})

test('a relay that took over and dies before its reply gets the mail again, also when the block has ended', async () => {
  await open()
  direct = (cue) => (cue === 'RCPT' ? BLOCKED : null)
  relayed = (cue) => (cue === 'DOT' ? { do: 'drop' } : null)
  const id = await send()
  await server.tried(id, 2)
  expect(await attemptsOf(id)).toEqual(['1 deferred direct', '2 unknown address_blocked'])
  direct = relayed = () => null
  await server.clock.advance(20 * MINUTE)
  expect((await server.ended(id)).status).toBe('delivered')
  expect((await attemptsOf(id)).at(-1)).toBe('3 delivered address_blocked')
  expect(taken(remote)).toBe(0)
  const next = await send('bob@one.remote.example')
  await server.ended(next)
  expect(await attemptsOf(next)).toEqual(['1 delivered direct'])
})

test('an attempt through the relay that the end of the server interrupts is repeated through it', async () => {
  await open()
  direct = (cue) => (cue === 'RCPT' ? BLOCKED : null)
  relayed = (cue) => (cue === 'DOT' ? { do: 'hang' } : null)
  const id = await send()
  await until('the mail at the relay', () => taken(relay) === 1)
  const [delivery] = await server.store().messages.deliveries(id)
  expect(await server.store().relays.begun(delivery!.id)).toEqual({ attempt: 2, relay: 'one' })
  await server.stop('with work that hangs')
  direct = relayed = () => null
  await server.reopen()
  await server.clock.advance(20 * MINUTE)
  expect((await server.ended(id)).status).toBe('delivered')
  expect((await attemptsOf(id)).at(-1)).toEndWith('delivered same_route')
  expect([taken(remote), taken(relay)]).toEqual([0, 2])
})

test('a relay that does not respond defers the mail, which it gets once later', async () => {
  await open()
  direct = (cue) => (cue === 'RCPT' ? BLOCKED.replace('554 5.', '451 4.') : null)
  relayed = (cue) => (cue === 'CONNECT' ? '421 4.3.2 not now' : null)
  const id = await send()
  await server.tried(id, 2)
  expect(await attemptsOf(id)).toEqual(['1 deferred direct', '2 deferred address_blocked'])
  relayed = () => null
  await server.toNextAttempt(id)
  expect((await server.ended(id)).status).toBe('delivered')
  expect([taken(remote), taken(relay)]).toEqual([0, 1])
})

test('the other addresses of the pool come first, then the relay', async () => {
  await open({}, { sending: { addresses: [{ address: '127.0.0.2' }, { address: '127.0.0.3' }] } })
  direct = (cue) => (cue === 'RCPT' ? BLOCKED : null)
  const id = await send()
  expect((await server.ended(id)).status).toBe('delivered')
  expect(await attemptsOf(id)).toEqual(['1 deferred direct', '2 deferred direct', '3 delivered address_blocked'])
  const { data } = await server.read(`/v1/messages/${id}/attempts`)
  expect(new Set(data.map((each: Json) => each.source_ip))).toEqual(new Set(['127.0.0.1', '127.0.0.2', '127.0.0.3']))
  const { explanation } = (await server.read(`/v1/messages/${id}/explain`)).recipients[0]
  expect(explanation[1]).toContain('Attempt 3 followed through the relay one.')
})

test('direct attempts that keep failing lead to the relay after after_minutes, and only mail to that domain', async () => {
  await open({ after_minutes: 10 })
  direct = (cue) => (cue === 'MAIL' ? '451 4.3.0 disk full' : null)
  const id = await send()
  for (let n = 1; n <= 3; n++) {
    await server.tried(id, n)
    await server.toNextAttempt(id)
  }
  expect((await server.ended(id)).status).toBe('delivered')
  expect(await attemptsOf(id)).toEqual([
    '1 deferred direct',
    '2 deferred direct',
    '3 deferred direct',
    '4 delivered direct_failing',
  ])
  expect((await server.read('/v1/explain?to=x@one.remote.example')).explanation[0]).toContain(
    'direct attempts kept failing',
  )
  expect((await server.read('/v1/explain?to=x@two.remote.example')).explanation[1]).toBe(
    'Relay rule 1 sends it directly; the relay one takes over if that is not possible.',
  )

  // Every 15 minutes one attempt tries whether direct delivery works again.
  direct = () => null
  await server.clock.advance(16 * MINUTE)
  const next = await send()
  await server.ended(next)
  expect(await attemptsOf(next)).toEqual(['1 delivered direct'])
})

test('a refused recipient leads to no relay', async () => {
  await open()
  direct = (cue) => (cue === 'RCPT' ? '550 5.1.1 no such user' : null)
  const id = await send()
  expect((await server.ended(id)).status).toBe('bounced')
  expect(await attemptsOf(id)).toEqual(['1 bounced direct'])
  expect(relay.connections()).toBe(0)
})
