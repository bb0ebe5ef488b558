import { expect, test } from 'bun:test'
import { startZone } from '../../src/cli/try/zone-server.ts'
import type { MtaSts } from '../../src/mail/mta-sts.ts'
import { createResolver } from '../../src/net/dns/resolver.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { PolicyFailure } from '../../src/sending/tls-policy/fetch-policy.ts'
import { createMtaStsPolicies } from '../../src/sending/tls-policy/mta-sts.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const START = Date.UTC(2026, 10, 21)
const ENFORCE: MtaSts = { mode: 'enforce', mx: ['mx.remote.test'], maxAgeSeconds: 7 * 86_400 }
const TESTING: MtaSts = { ...ENFORCE, mode: 'testing' }
const BROKEN: PolicyFailure = { failure: 'sts-policy-fetch-error', detail: 'timeout' }

/** A domain remote.test that announces a policy; the fetch returns `answer`. */
async function open() {
  const zone = await startZone([{ name: '_mta-sts.remote.test', type: 'TXT', data: 'v=STSv1; id=1;', ttlSeconds: 60 }])
  const store = await openMemoryStore()
  const clock = createFakeClock(START)
  const state = { answer: ENFORCE as MtaSts | PolicyFailure, fetches: 0, failures: [] as string[] }
  const start = () =>
    createMtaStsPolicies({
      store,
      resolver: createResolver({ servers: [zone.address], clock, random: systemRandom }),
      fetchPolicy: async () => {
        state.fetches++
        return state.answer
      },
      clock,
      onFailure: (domain, { failure }) => state.failures.push(`${domain} ${failure}`),
    })
  const stop = async () => {
    await zone.stop()
    await store.close()
  }
  const announce = (policyId: string) => zone.set('_mta-sts.remote.test', 'TXT', [`v=STSv1; id=${policyId};`], 60)
  return { zone, store, clock, state, start, announce, [Symbol.asyncDispose]: stop }
}

/** Asks in the background until the answer changes. */
async function until(find: () => unknown, wanted: unknown): Promise<void> {
  while (!Bun.deepEquals(await find(), wanted)) await new Promise((resolve) => setImmediate(resolve))
}

test('fetches a policy once, at the first mail', async () => {
  await using w = await open()
  const policies = w.start()
  const asked = [policies.find('remote.test'), policies.find('remote.test')]
  expect(asked[0]).toBeInstanceOf(Promise)
  expect(await Promise.all(asked)).toEqual([ENFORCE, ENFORCE])
  expect(policies.find('remote.test')).toEqual(ENFORCE)
  expect(w.state.fetches).toBe(1)
})

test('a domain that announces none has none, and gets no HTTPS request; nor does an address literal', async () => {
  await using w = await open()
  const policies = w.start()
  expect(await policies.find('plain.test')).toBeNull()
  expect(policies.find('plain.test')).toBeNull()
  expect(policies.find('[192.0.2.1]')).toBeNull()
  expect(w.state.fetches).toBe(0)
})

test('a stored policy survives a restart and applies without DNS and HTTPS until it expires', async () => {
  await using w = await open()
  await w.start().find('remote.test')
  w.zone.remove('_mta-sts.remote.test')
  w.state.answer = BROKEN
  await w.clock.advance(6 * DAY)
  expect(await w.start().find('remote.test')).toEqual(ENFORCE)
  await w.clock.advance(DAY)
  expect(await w.start().find('remote.test')).toBeNull()
  expect(w.state.fetches).toBe(1)
})

test('a policy that another node has refreshed applies, also when it cannot be fetched again', async () => {
  await using w = await open()
  const [one, two] = [w.start(), w.start()]
  await one.find('remote.test')
  await two.find('remote.test')
  await w.clock.advance(DAY)
  await one.refresh(w.clock.now())
  w.zone.remove('_mta-sts.remote.test')
  w.state.answer = BROKEN
  await w.clock.advance(6 * DAY)
  expect(await two.find('remote.test')).toEqual(ENFORCE)
  await w.clock.advance(DAY)
  expect(await two.find('remote.test')).toBeNull()
})

test('another id brings another policy, a little later and without delaying mail', async () => {
  await using w = await open()
  const policies = w.start()
  await policies.find('remote.test')
  w.announce('2')
  w.state.answer = TESTING
  await w.clock.advance(MINUTE)
  expect(policies.find('remote.test')).toEqual(ENFORCE)
  await until(() => policies.find('remote.test'), TESTING)
  expect((await w.store.mtaSts.get('remote.test'))?.policyId).toBe('2')
})

test('a new policy that cannot be fetched leaves the previous one in force, and is fetched again after five minutes', async () => {
  await using w = await open()
  const policies = w.start()
  await policies.find('remote.test')
  w.announce('2')
  w.state.answer = BROKEN
  await w.clock.advance(MINUTE)
  policies.find('remote.test')
  await until(() => w.state.failures, ['remote.test sts-policy-fetch-error'])
  await w.clock.advance(4 * MINUTE)
  expect(policies.find('remote.test')).toEqual(ENFORCE)
  expect(w.state.fetches).toBe(2)
  w.state.answer = TESTING
  await w.clock.advance(MINUTE)
  await until(() => policies.find('remote.test'), TESTING)
})

test('a domain that had none is asked again before the next mail after a long pause', async () => {
  await using w = await open()
  w.zone.remove('_mta-sts.remote.test')
  const policies = w.start()
  expect(await policies.find('remote.test')).toBeNull()
  w.announce('1')
  await w.clock.advance(14 * MINUTE)
  expect(policies.find('remote.test')).toBeNull()
  await until(() => policies.find('remote.test'), ENFORCE)

  expect(await policies.find('new.test')).toBeNull()
  w.zone.set('_mta-sts.new.test', 'TXT', ['v=STSv1; id=1;'])
  await w.clock.advance(15 * MINUTE)
  expect(await policies.find('new.test')).toEqual(ENFORCE)
})

test('an announced policy that was never fetched counts as none', async () => {
  await using w = await open()
  w.state.answer = { failure: 'sts-policy-invalid', detail: 'no mx' }
  const policies = w.start()
  expect(await policies.find('remote.test')).toBeNull()
  expect(policies.find('remote.test')).toBeNull()
  expect(w.state.failures).toEqual(['remote.test sts-policy-invalid'])
})

test('DNS failures remove no policy', async () => {
  await using w = await open()
  const policies = w.start()
  await policies.find('remote.test')
  w.zone.fail('_mta-sts.remote.test', 'SERVFAIL')
  expect(await w.start().find('remote.test')).toEqual(ENFORCE)
})

test('a policy in use is fetched again every day, and a failure costs only another attempt in an hour', async () => {
  await using w = await open()
  const policies = w.start()
  await policies.find('remote.test')
  const turn = async (ms: number) => {
    await w.clock.advance(ms)
    await policies.refresh(w.clock.now())
    return w.state.fetches
  }
  expect(await turn(DAY - 1)).toBe(1)
  expect(await turn(1)).toBe(2)
  w.state.answer = BROKEN
  expect(await turn(DAY)).toBe(3)
  expect(await turn(30 * MINUTE)).toBe(3)
  w.state.answer = { ...ENFORCE, mx: ['new.remote.test'] }
  expect(await turn(30 * MINUTE)).toBe(4)
  expect(policies.find('remote.test')).toMatchObject({ mx: ['new.remote.test'] })
  expect((await w.store.mtaSts.get('remote.test'))?.expiresAt).toBe(w.clock.now() + 7 * DAY)
})

test('lets a policy unused for two months expire', async () => {
  await using w = await open()
  w.state.answer = { ...ENFORCE, maxAgeSeconds: 90 * 86_400 }
  const policies = w.start()
  await policies.find('remote.test')
  await w.clock.advance(61 * DAY)
  await policies.refresh(w.clock.now())
  expect(w.state.fetches).toBe(1)
  expect(await policies.find('remote.test')).not.toBeNull()
  await w.clock.advance(29 * DAY)
  await policies.refresh(w.clock.now())
  expect(await w.store.mtaSts.get('remote.test')).toBeNull()
})

test('a policy with a lifetime of zero applies for five minutes, so that not every mail fetches it', async () => {
  await using w = await open()
  w.state.answer = { ...ENFORCE, maxAgeSeconds: 0 }
  const policies = w.start()
  await policies.find('remote.test')
  await w.clock.advance(4 * MINUTE)
  expect(policies.find('remote.test')).toMatchObject({ mode: 'enforce' })
  expect(w.state.fetches).toBe(1)
})
