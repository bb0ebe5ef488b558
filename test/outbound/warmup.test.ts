import { afterEach, describe, expect, test } from 'bun:test'
import { type Outcome, queueOf } from '../../src/model/delivery.ts'
import { DESTINATION_GROUPS, type DestinationGroup } from '../../src/model/destination-group.ts'
import { dayOf, startOfDay, type Warmup, type WarmupKey } from '../../src/model/warmup.ts'
import { STEP_BACK_DAYS, WARMUP_DAYS } from '../../src/model/warmup-plan.ts'
import type { Lookup, MxRecord } from '../../src/net/dns/resolver.ts'
import { Admission, ClaimPlan, type Grant } from '../../src/sending/outbound/schedule/admission.ts'
import { createTermsOf } from '../../src/sending/outbound/schedule/destination-limits.ts'
import { DestinationRoutes } from '../../src/sending/outbound/schedule/destination-routes.ts'
import { OwnerShares } from '../../src/sending/outbound/schedule/owner-shares.ts'
import { createSenders } from '../../src/sending/outbound/senders/senders.ts'
import { createWarmupLimits, type WarmupLimits, type WarmupResult } from '../../src/sending/outbound/senders/warmups.ts'
import type { Store } from '../../src/storage/store.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

/** Warm-up by the engine's own decisions: admission, senders, limits and the store are real; only the attempts are not. */

const FIRST_DAY = dayOf(Date.UTC(2026, 10, 24))
const START = startOfDay(FIRST_DAY)
const STEP = 300_000
const QUARTER = 3 * STEP
const DAY = 86_400_000
const NEW = '192.0.2.1'
const WARM = '192.0.2.2'
const STANDARD: Warmup = { startedOn: '2026-11-24', plan: 'standard' }
const PLAN = WARMUP_DAYS.standard

const DOMAINS: Record<DestinationGroup, [domain: string, exchange: string]> = {
  google: ['gmail.test', 'gmail-smtp-in.l.google.com'],
  microsoft: ['contoso.test', 'contoso-test.mail.protection.outlook.com'],
  yahoo: ['aol.test', 'mx-aol.mail.gm0.yahoodns.net'],
  apple: ['me.test', 'mx01.mail.icloud.com'],
  others: ['remote.test', 'mx.remote.test'],
}
const DELIVERED: Outcome = { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'OK' } }

interface Engine {
  clock: FakeClock
  store: Store
  limits: WarmupLimits
  admission: Admission
}

const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
})

async function open(startAt = START) {
  const clock = createFakeClock(startAt)
  const store = await openMemoryStore()
  stores.push(store)
  return { clock, store }
}

/** A process with these addresses in one pool; another one on the same store is its restart, or another node. */
async function start(
  { clock, store }: Pick<Engine, 'clock' | 'store'>,
  options: { pool?: readonly string[]; warmups?: Record<string, Warmup>; mx?: Lookup<MxRecord> } = {},
): Promise<Engine> {
  const { pool = [NEW, WARM], warmups = { [NEW]: STANDARD }, mx } = options
  const addresses = Object.entries(warmups).map(([address, warmup]) => ({ address, warmup }))
  const onError = (error: unknown) => expect(error).toBeUndefined()
  const limits = createWarmupLimits({ store: store.warmups, clock, addresses, onError })
  const hosts = pool.map((address) => ({ address, hostname: 'out.sender.test' }))
  const shares = new OwnerShares(clock.steady)
  const exchanges = new Map(Object.values(DOMAINS))
  const routes = new DestinationRoutes({
    shares,
    clock: clock.steady,
    onFound: () => {},
    resolver: {
      mx: async (domain) => {
        const records = [{ preference: 10, exchange: exchanges.get(domain) ?? domain }]
        return mx ?? { kind: 'records', records, ttlSeconds: 3_600, authentic: false }
      },
    },
  })
  const admission = new Admission({
    routes,
    shares,
    clock,
    clockChanges: { goodSince: () => START },
    maxInFlight: 1_000,
    termsOf: createTermsOf({}, 20),
    longestPauseMs: () => 0,
    overdueMs: 365 * DAY,
    senders: createSenders(() => hosts, clock.steady.now, { warmups: limits }),
  })
  await limits.turn()
  return { clock, store, limits, admission }
}

/** Claims up to `mails` due mails of the domain, as a claim of the engine does → their grants. */
async function claim({ admission, clock }: Engine, domain: string, mails: number): Promise<Grant[]> {
  const queue = queueOf(domain, 'org_aaaaaaaa11111111')
  for (let turn = 0; turn < 3; turn++) {
    const plan = new ClaimPlan(admission)
    const answer = plan.look(queue, clock.now())
    if (answer === false) break
    if ('name' in answer) {
      if (!answer.name.startsWith('mx ')) break
      await clock.advance(0)
      continue
    }
    const most = Math.min(mails, ...answer.quotas.map((quota) => ('most' in quota ? quota.most : mails)))
    return plan.commit(Array<string>(most).fill(queue))
  }
  return []
}

/** Counts and ends claimed mails → how many went from each address. */
async function attempt(
  { admission, clock }: Engine,
  grants: readonly Grant[],
  resultOf: () => WarmupResult = () => 'delivered',
): Promise<Record<string, number>> {
  const counted = await Promise.all(grants.map((grant) => (grant.warmup === null ? null : admission.count(grant))))
  const sent: Record<string, number> = {}
  for (const [at, grant] of grants.entries()) {
    const key: WarmupKey | null = counted[at]!
    if (grant.warmup !== null && key === null) {
      admission.returned(grant, null)
      continue
    }
    const from = grant.sender![0].address
    const result = key === null ? 'delivered' : resultOf()
    const warmup = key === null ? undefined : { counted: key, result }
    admission.ended(grant, { outcome: DELIVERED, reached: true, startedAt: clock.steady.now(), warmup })
    if (result !== 'unused') sent[from] = (sent[from] ?? 0) + 1
  }
  return sent
}

/** Sends up to `mails` mails of the domain now → how many went from each address. */
async function send(engine: Engine, domain: string, mails: number, resultOf?: () => WarmupResult) {
  const sent: Record<string, number> = {}
  for (let left = mails; left > 0; ) {
    const grants = await claim(engine, domain, Math.min(left, 100))
    if (grants.length === 0) break
    const now = await attempt(engine, grants, resultOf)
    for (const [from, count] of Object.entries(now)) sent[from] = (sent[from] ?? 0) + count
    left -= grants.length
  }
  return sent
}

/** Demand of `mails` for each group over a whole day, a part every quarter of an hour → mails from the new address by group. */
async function busyDay(engine: Engine, mails: number) {
  const sent: Partial<Record<DestinationGroup, number>> = {}
  for (let quarter = 0; quarter < DAY / QUARTER; quarter++) {
    await engine.limits.turn()
    for (const group of DESTINATION_GROUPS) {
      const [domain] = DOMAINS[group]
      const now = await send(engine, domain, Math.ceil((mails * QUARTER) / DAY))
      sent[group] = (sent[group] ?? 0) + (now[NEW] ?? 0)
    }
    await engine.clock.advance(QUARTER)
  }
  return sent
}

const recorded = async ({ store }: Pick<Engine, 'store'>, day: number, group: DestinationGroup) =>
  (await store.warmups.days([NEW])).find((each) => each.day === day && each.group === group)?.sent ?? 0

test('thirty busy days keep within 2 % of the plan for every group, and then there is no limit', async () => {
  const engine = await start(await open())
  const days: Awaited<ReturnType<typeof busyDay>>[] = []
  for (let day = 0; day < PLAN.length; day++) days.push(await busyDay(engine, 1.05 * PLAN[day]!))
  for (const [day, sent] of days.entries()) {
    for (const group of DESTINATION_GROUPS) {
      const planned = PLAN[day]!
      expect(Math.abs(sent[group]! - planned) / planned).toBeLessThanOrEqual(0.02)
      expect(await recorded(engine, FIRST_DAY + day, group)).toBe(sent[group]!)
    }
  }
  for (const [domain] of Object.values(DOMAINS)) expect((await claim(engine, domain, 1))[0]?.warmup).toBeNull()
  expect(engine.limits.states().map(({ state, allowance }) => [state, allowance])).toEqual(
    DESTINATION_GROUPS.map(() => ['finished', null]),
  )
})

describe('on the first day', () => {
  test('an hour of the allowance is there at once, and the rest comes evenly until an hour before midnight', async () => {
    const engine = await start(await open(), { pool: [NEW] })
    const by: number[] = []
    let sum = 0
    for (let step = 0; step < DAY / STEP; step++) {
      sum += (await send(engine, 'gmail.test', 1_000))[NEW] ?? 0
      by.push(sum)
      await engine.clock.advance(STEP)
    }
    const hour = (hours: number) => by[hours * 12]
    expect([hour(0), hour(6), hour(12), hour(18), hour(23)]).toEqual([3, 15, 28, 40, 50])
    expect(sum).toBe(PLAN[0]!)
  })

  test('mail beyond the allowance goes from a warm address of the pool at once', async () => {
    const engine = await start(await open(START + 12 * 3_600_000))
    expect(await send(engine, 'gmail.test', 200)).toEqual({ [NEW]: 28, [WARM]: 172 })
    // Other groups have allowances of their own.
    expect(await send(engine, 'remote.test', 30)).toEqual({ [NEW]: 28, [WARM]: 2 })
  })

  test('without a warm address it waits for the next part, and the blocker ends with it', async () => {
    const engine = await start(await open(), { pool: [NEW] })
    const { admission, clock } = engine
    expect(await send(engine, 'gmail.test', 10)).toEqual({ [NEW]: 3 })
    const queue = queueOf('gmail.test', 'org_aaaaaaaa11111111')
    expect(admission.limitsOf(queue, clock.now())).toEqual({ name: `warm-up ${NEW} google`, until: START + STEP })
    expect(admission.stateOf('google.com', queue).addresses?.[0]?.warmup).toMatchObject({
      ...{ group: 'google', day: 1, allowance: 50, sent: 3, left: 0, nextAt: START + STEP, state: 'on_plan' },
    })
  })

  test('two addresses in warm-up have an allowance each', async () => {
    const engine = await start(await open(START + 23 * 3_600_000), { warmups: { [NEW]: STANDARD, [WARM]: STANDARD } })
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: 50, [WARM]: 50 })
  })

  test('mails of one claim that belong to different domains of a group share its allowance', async () => {
    const engine = await start(await open(), { pool: [NEW] })
    const first = await claim(engine, 'gmail.test', 2)
    const second = await claim(engine, 'gmail.test', 10)
    expect([first.length, second.length]).toEqual([2, 1])
    expect(await attempt(engine, [...first, ...second])).toEqual({ [NEW]: 3 })
  })
})

test('nothing is sent from a new address before its first day', async () => {
  const engine = await start(await open(START - DAY), { pool: [NEW] })
  expect(await send(engine, 'gmail.test', 5)).toEqual({})
  expect(engine.limits.states()[0]).toMatchObject({ state: 'held', day: 0, heldUntil: START })
  await engine.clock.advance(DAY)
  expect(await send(engine, 'gmail.test', 5)).toEqual({ [NEW]: 3 })
})

describe('a restart', () => {
  test('in the middle of a day goes on with what was counted, and the day keeps its plan', async () => {
    const opened = await open()
    let engine = await start(opened)
    let sum = 0
    for (let step = 0; step < DAY / STEP; step++) {
      if (step % 50 === 49) engine = await start(opened)
      sum += (await send(engine, 'gmail.test', 500))[NEW] ?? 0
      await engine.clock.advance(STEP)
    }
    expect(sum).toBe(PLAN[0]!)
  })

  test('after a crash between count and attempt counts the mails that were not sent, never too few', async () => {
    const opened = await open(START + 23 * 3_600_000)
    const crashed = await start(opened)
    const grants = await claim(crashed, 'gmail.test', 5)
    await Promise.all(grants.map((grant) => crashed.admission.count(grant)))
    const engine = await start(opened)
    expect((await send(engine, 'gmail.test', 500))[NEW]).toBe(PLAN[0]! - 5)
  })

  test('after a crash before the count has lost nothing', async () => {
    const opened = await open(START + 23 * 3_600_000)
    await claim(await start(opened), 'gmail.test', 5)
    expect((await send(await start(opened), 'gmail.test', 500))[NEW]).toBe(PLAN[0]!)
  })
})

test('two nodes with the same address share its allowance', async () => {
  const opened = await open(START + 23 * 3_600_000)
  const nodes = [await start(opened, { pool: [NEW] }), await start(opened, { pool: [NEW] })]
  // Both claim before either has counted.
  const claims = await Promise.all(nodes.map((node) => claim(node, 'gmail.test', 5)))
  const sent = await Promise.all(nodes.map((node, at) => attempt(node, claims[at]!)))
  expect(sent).toEqual([{ [NEW]: 5 }, { [NEW]: 5 }])
  const rest = await Promise.all(nodes.map((node) => send(node, 'gmail.test', 500)))
  expect((rest[0]![NEW] ?? 0) + (rest[1]![NEW] ?? 0)).toBe(PLAN[0]! - 10)
})

describe('a clock that is set back', () => {
  test('by hours or a day allows no mail twice', async () => {
    const engine = await start(await open(START + DAY), { pool: [NEW] })
    await engine.clock.advance(23 * 3_600_000)
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: PLAN[1]! })
    engine.clock.jump(-12 * 3_600_000)
    expect(await send(engine, 'gmail.test', 500)).toEqual({})
    engine.clock.jump(-DAY)
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: 25 })
    engine.clock.jump(DAY + 12 * 3_600_000)
    expect(await send(engine, 'gmail.test', 500)).toEqual({})
  })

  test('after it was ahead counts what was sent in the days ahead once they come', async () => {
    const engine = await start(await open(START + 23 * 3_600_000), { pool: [NEW] })
    engine.clock.jump(DAY)
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: PLAN[1]! })
    engine.clock.jump(-DAY)
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: PLAN[0]! })
    await engine.clock.advance(DAY)
    expect(await send(engine, 'gmail.test', 500)).toEqual({})
  })
})

describe('bad results', () => {
  const noon = START + 12 * 3_600_000
  /** The first `bad` of the mails get this result. */
  const first = (bad: number, result: WarmupResult) => () => (bad-- > 0 ? result : 'delivered')
  const google = ({ limits }: Engine) => limits.states().find(({ group }) => group === 'google')

  test('a few deferrals change nothing', async () => {
    const engine = await start(await open(noon))
    expect((await send(engine, 'gmail.test', 500, first(4, 'deferred')))[NEW]).toBe(28)
    expect(google(engine)?.state).toBe('on_plan')
  })

  test('a block share above its threshold holds the group until the next day, which repeats the day of the plan', async () => {
    const engine = await start(await open(START + 2 * DAY + 20 * 3_600_000))
    const sent = (await send(engine, 'gmail.test', 60))[NEW]!
    await send(engine, 'gmail.test', 2, () => 'blocked')
    expect(sent).toBeGreaterThan(50)
    expect(google(engine)).toMatchObject({ state: 'held', day: 3, heldUntil: START + 3 * DAY, left: 0 })
    expect((await send(engine, 'gmail.test', 10))[NEW]).toBeUndefined()
    // Only this group.
    expect((await send(engine, 'contoso.test', 10))[NEW]).toBe(10)
    await engine.clock.advance(4 * 3_600_000)
    expect(google(engine)).toMatchObject({ state: 'on_plan', day: 3, allowance: PLAN[2]! })
    await engine.clock.advance(DAY)
    expect(google(engine)).toMatchObject({ state: 'on_plan', day: 4 })
  })

  test('many deferrals step the plan back, and the steps are made up for on good days; a restart knows it', async () => {
    const opened = await open(START + 9 * DAY + 12 * 3_600_000)
    const engine = await start(opened)
    await send(engine, 'gmail.test', 10, () => 'deferred')
    expect(google(engine)).toMatchObject({ state: 'held', day: 10 })
    await engine.limits.flush()
    await engine.clock.advance(DAY)
    const again = await start(opened)
    const day = 10 - STEP_BACK_DAYS
    for (const each of [engine, again]) expect(google(each)).toMatchObject({ state: 'stepped_back', day })
    await again.clock.advance(STEP_BACK_DAYS * DAY)
    expect(google(again)).toMatchObject({ state: 'on_plan', day: 10 })
  })

  test('complaints that another process stored count within a minute', async () => {
    const engine = await start(await open(noon))
    await send(engine, 'gmail.test', 20)
    await engine.store.warmups.add([{ address: NEW, group: 'google', day: FIRST_DAY, complaints: 2 }])
    await engine.clock.advance(61_000)
    await engine.limits.turn()
    expect(google(engine)?.state).toBe('held')
    await engine.clock.advance(DAY)
    expect(google(engine)).toMatchObject({ state: 'on_plan', day: 1 })
  })

  test('mail for which nothing was connected is not counted once that is stored', async () => {
    const engine = await start(await open(noon), { pool: [NEW] })
    expect(await send(engine, 'gmail.test', 500, () => 'unused')).toEqual({})
    await engine.clock.advance(1_000)
    await engine.limits.turn()
    expect(engine.admission.freed()).toContain(`warm-up ${NEW} google`)
    expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: 28 })
    expect(await recorded(engine, FIRST_DAY, 'google')).toBe(28)
  })
})

test('while the MX lookup of a domain fails, its mail needs no allowance and takes none', async () => {
  const mx: Lookup<MxRecord> = { kind: 'temporary', reason: 'SERVFAIL' }
  const engine = await start(await open(), { pool: [NEW], mx })
  const grants = await claim(engine, 'gmail.test', 10)
  expect(grants.length).toBeGreaterThan(3)
  expect(grants[0]).toMatchObject({ warmup: null, route: { mx } })
  expect(await engine.store.warmups.days([NEW])).toEqual([])
})

test('a store that cannot count rejects, and no mail stays reserved', async () => {
  const opened = await open(START + 23 * 3_600_000)
  const engine = await start(opened, { pool: [NEW] })
  const grants = await claim(engine, 'gmail.test', 5)
  const { take } = opened.store.warmups
  opened.store.warmups.take = async () => {
    throw new Error('disk full')
  }
  const counted = await Promise.allSettled(grants.map((grant) => engine.admission.count(grant)))
  expect(counted.map(({ status }) => status)).toEqual(grants.map(() => 'rejected'))
  for (const grant of grants) engine.admission.returned(grant, null)
  opened.store.warmups.take = take
  expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: 50 })
})

test('a mail that is given back or rerouted before it is counted does not stay reserved', async () => {
  const opened = await open(START + 23 * 3_600_000)
  const engine = await start(opened, { pool: [NEW] })
  const grants = await claim(engine, 'gmail.test', 5)
  expect(grants).toHaveLength(5)
  for (const grant of grants.slice(0, 3)) engine.admission.returned(grant, 'reserved')
  for (const grant of grants.slice(3)) {
    const other = engine.admission.rerouted(grant, null)
    expect(other.warmup).toBe(NEW)
    engine.admission.returned(other, 'reserved')
  }
  expect(await send(engine, 'gmail.test', 500)).toEqual({ [NEW]: 50 })
})
