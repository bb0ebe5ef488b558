import { describe, expect, test } from 'bun:test'
import { type CheckedDomain, checkDomains } from '../../src/operating/health/domains.ts'
import { checkDelivered, checkQueue } from '../../src/operating/health/mail-flow.ts'
import { checkStore } from '../../src/operating/health/store.ts'
import { StoreUnavailable } from '../../src/storage/store.ts'
import { START } from '../support/server.ts'

/** Checks that a server with a store adds. */
const HOUR_MS = 3_600_000

describe('deliveries', () => {
  const outcomes = (agoMs: number, sent: number, delivered: number) => ({
    quality: {
      domainsWithOutcomes: async (windowMs: number) => (windowMs >= agoMs ? ['dom_1', 'dom_2'] : []),
      figures: async (id: string) =>
        id === 'dom_1'
          ? { sent, delivered, hardBounced: 0, complained: 0 }
          : { sent: 0, delivered: 0, hardBounced: 0, complained: 0 },
    } as never,
  })
  const check = (agoMs: number, sent: number, delivered: number) =>
    checkDelivered(outcomes(agoMs, sent, delivered), START)

  test('the shortest period with mail in it is reported', async () => {
    expect((await check(0, 10, 9)).message).toBe('9 of 10 delivered in the last hour')
    expect((await check(20 * HOUR_MS, 10, 9)).message).toBe('9 of 10 delivered in the last 24 hours')
    expect(await check(1_000 * HOUR_MS, 10, 9)).toMatchObject({ status: 'skip' })
  })

  test('fails if nothing arrived, unless little was tried', async () => {
    expect(await check(0, 50, 0)).toMatchObject({ status: 'fail' })
    expect(await check(0, 2, 0)).toMatchObject({ status: 'pass' })
    expect(await check(0, 50, 1)).toMatchObject({ status: 'pass' })
  })
})

describe('queue', () => {
  const none = { due: 0, later: 0, oldestDueAt: null }
  const check = (due: number, lateMs: number, isServed = true, groups: string[] = []) => {
    const deliveries = due === 0 ? { ...none, later: 3 } : { due, later: 3, oldestDueAt: START - lateMs }
    const queues = { waiting: async () => ({ deliveries, webhookDeliveries: none, inboundDeliveries: none }) }
    return checkQueue({ queues }, { now: START, isServed, warmingGroups: async () => groups })
  }

  test('with due mail waits for a moment, for long, or for a server', async () => {
    expect(await check(0, 0)).toMatchObject({ status: 'pass' })
    expect(await check(5, 30_000)).toMatchObject({ status: 'pass', message: '5 due, 3 later' })
    expect(await check(5, HOUR_MS)).toMatchObject({ status: 'warn' })
    expect(await check(5, 5 * HOUR_MS)).toMatchObject({ status: 'fail' })
    expect(await check(5, 0, false)).toMatchObject({ status: 'warn', advice: 'Start it: systemctl start postrider' })
  })

  test('with mail that a warm-up delays is no problem for a day', async () => {
    const passed = await check(5, 5 * HOUR_MS, true, ['google', 'others'])
    expect(passed).toMatchObject({ status: 'pass' })
    expect(passed.message).toEndWith('limits mail to google, others')
    expect(await check(5, 25 * HOUR_MS, true, ['google'])).toMatchObject({ status: 'warn' })
    expect(await check(5, 49 * HOUR_MS, true, ['google'])).toMatchObject({ status: 'fail' })
  })
})

describe('domains', () => {
  const check = (...domains: CheckedDomain[]) => checkDomains(async () => domains)
  const domain = (
    wrong: string[] | null,
    wasVerified = true,
    name = 'acme.example',
    missingSince: number | null = null,
  ) => ({ name, wrong, wasVerified, missingSince })

  test('one that lost a record fails, one that never had it waits, and no answer is neither', async () => {
    expect(await check()).toMatchObject({ status: 'skip' })
    expect(await check(domain([]))).toMatchObject({
      status: 'pass',
      message: 'all DNS records of acme.example are published',
    })
    expect(await check(domain(['x']), domain([], true, 'b.example'))).toMatchObject({
      status: 'fail',
      advice: 'Run `postrider dns check acme.example`.',
    })
    expect(await check(domain(['x'], false))).toMatchObject({ status: 'warn' })
    expect(await check(domain(null), domain([]))).toMatchObject({ status: 'skip' })
  })

  test('a domain without its proof fails the check, with the day since when', async () => {
    const since = Date.UTC(2026, 10, 20, 8)
    const found = await check(
      domain(['x'], true, 'a.example', since),
      domain([]),
      domain([], false, 'b.example', since),
    )
    expect(found).toMatchObject({
      status: 'fail',
      message: 'DNS has no proof of ownership for a.example (since 2026-11-20), b.example (failed, since 2026-11-20)',
    })
  })

  test('only the first of many are named', async () => {
    const { message } = await check(...Array.from({ length: 9 }, (_, at) => domain(['x'], true, `d${at}.example`)))
    expect(message).toContain('d2.example')
    expect(message).not.toContain('d3.example')
    expect(message).toContain('and 6 more')
  })

  test.each([
    ['that lost their proof', START],
    ['that lost a record', null],
  ])('as many %s as are named are all of them', async (_, missingSince) => {
    const three = ['a', 'b', 'c'].map((name) => domain(['x'], true, `${name}.example`, missingSince))
    expect((await check(...three)).message).not.toContain('more')
    expect((await check(...three, domain(['x'], true, 'd.example', missingSince))).message).toContain(', and 1 more')
  })
})

describe('store', () => {
  test('that is writable passes; a full disk is reported', async () => {
    expect(await checkStore({ checkWritable: async () => {} })).toMatchObject({ status: 'pass' })
    const full = async () => {
      throw new StoreUnavailable('free disk space is below storage.min_free_bytes', { isFull: true })
    }
    expect(await checkStore({ checkWritable: full })).toMatchObject({
      status: 'fail',
      advice: 'Free space on the disk of data_dir.',
    })
  })
})
