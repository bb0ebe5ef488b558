import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Outcome } from '../../model/delivery.ts'
import type { Blocker, Quota } from '../../storage/store.ts'
import { type Allowance, createAllowance } from './concurrency.ts'
import type { SiteTerms } from './destination-limits.ts'

const CAUSE = { class: 'rate', rule: 'test' }
const OK: Outcome = { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'OK' } }
const SLOWER: Outcome = {
  kind: 'deferred',
  code: '4.7.28',
  message: '421 4.7.28 unusual rate',
  aboutRecipient: false,
  cause: CAUSE,
}
const FULL: Outcome = { kind: 'deferred', code: '4.2.2', message: '452 4.2.2 full', aboutRecipient: true, cause: CAUSE }

const TERMS: SiteTerms = { maxConnections: 20, maxMailsPerConnection: 500, maxMailsPerMinute: null }
const open = (terms: Partial<SiteTerms> = {}, maxInFlight = 1000) =>
  createAllowance({ maxInFlight, termsOf: () => ({ ...TERMS, ...terms }), longestPauseMs: () => 3_600_000 })

/** One mail that ends at once. */
function mail(allowance: Allowance, outcome: Outcome, now: number, site = 'a', reached = true) {
  allowance.started(site, 1, now)
  allowance.ended(site, { outcome, reached, startedAt: now }, now)
}
const state = (allowance: Allowance, now = 0, site = 'a') => allowance.stateOf(site, now)

describe('a destination', () => {
  test('starts with few connections and gets one more after each run of accepted mails, up to its maximum', () => {
    const allowance = open()
    expect(state(allowance)).toMatchObject({ state: 'unknown', limit: 5, maxUnderWay: 5, lowered: null })
    for (let i = 0; i < 5; i++) mail(allowance, OK, 0)
    expect(state(allowance)).toMatchObject({ state: 'proven', limit: 6, maxUnderWay: 24 })
    for (let i = 0; i < 200; i++) mail(allowance, OK, 0)
    expect(state(allowance).limit).toBe(20)
  })

  test('is not judged by a mail whose own TLS requirement failed', () => {
    const allowance = open()
    for (const rule of ['tls:starttls', 'mta_sts:mx', 'dane:lookup']) {
      for (let i = 0; i < 5; i++) mail(allowance, { ...SLOWER, code: '4.7.5', cause: { class: 'tls', rule } }, 0)
      expect(state(allowance)).toMatchObject({ limit: 5, lowered: null })
    }
  })

  test('gets half of its connections after a failure, says why, and recovers slowly', () => {
    const allowance = open()
    for (let i = 0; i < 200; i++) mail(allowance, OK, 0)
    mail(allowance, SLOWER, 7)
    const lowered = { class: 'rate', at: 7 } // and nothing of the reply, because others read it
    expect(state(allowance, 7)).toMatchObject({ state: 'troubled', limit: 10, maxUnderWay: 10, lowered })
    for (let i = 0; i < 19; i++) mail(allowance, OK, 8)
    expect(state(allowance, 8)).toMatchObject({ state: 'proven', limit: 10, lowered })
    mail(allowance, OK, 8)
    expect(state(allowance, 8).limit).toBe(11)
  })

  test('is judged once for concurrent attempts', () => {
    const allowance = open()
    for (let i = 0; i < 200; i++) mail(allowance, OK, 0)
    allowance.started('a', 20, 1)
    for (let i = 0; i < 20; i++) allowance.ended('a', { outcome: SLOWER, reached: true, startedAt: 1 }, 2 + i)
    expect(state(allowance, 30)).toMatchObject({ limit: 10, pausedUntil: null })
  })

  test('is paused when its failures continue, longer each time, down to one connection and up to five minutes', () => {
    const allowance = open()
    const pauses: number[] = []
    let now = 0
    for (let i = 0; i < 12; i++) {
      mail(allowance, SLOWER, ++now)
      const { pausedUntil } = state(allowance, now)
      pauses.push(pausedUntil === null ? 0 : pausedUntil - now)
      if (pausedUntil !== null) {
        expect(roomOf(allowance.quotasOf('a', true, now))).toEqual({ name: 'site a', until: pausedUntil })
        now = pausedUntil
      }
      expect(roomOf(allowance.quotasOf('a', true, now))).toBeGreaterThan(0)
    }
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000))
    expect(state(allowance, now).limit).toBe(1)
    mail(allowance, OK, now)
    mail(allowance, SLOWER, now + 1)
    expect(state(allowance, now + 1).pausedUntil).toBeNull()
  })

  test('is paused no longer than until the retry of the failed mail', () => {
    const allowance = createAllowance({ maxInFlight: 9, termsOf: () => TERMS, longestPauseMs: () => 800 })
    for (let now = 0; now < 5000; now += 1000) mail(allowance, SLOWER, now)
    expect(state(allowance, 4000).pausedUntil).toBe(4800)
  })

  test('is not limited for a full mailbox, nor raised for a mail that reached no server', () => {
    const allowance = open()
    mail(allowance, FULL, 0)
    expect(state(allowance)).toMatchObject({ state: 'proven', lowered: null })
    mail(allowance, OK, 0, 'b', false)
    expect(state(allowance, 0, 'b').state).toBe('unknown')
  })

  test('gets its capacity back when a start is undone, and frees its waiters', () => {
    const allowance = open({ maxMailsPerMinute: 60 })
    allowance.started('a', 1, 0)
    expect(allowance.freed()).toEqual([])
    allowance.undone('a', 1)
    expect(allowance.freed()).toEqual(['site a', 'unknown', 'unknown backlog'])
    expect(roomOf(allowance.quotasOf('a', true, 0))).toBe(1)
  })

  test('with a limit per minute gets no more, and says when the next may start', () => {
    const allowance = open({ maxMailsPerMinute: 60 })
    expect(roomOf(allowance.quotasOf('a', true, 0))).toBe(1)
    mail(allowance, OK, 0)
    expect(roomOf(allowance.quotasOf('a', true, 0))).toEqual({ name: 'site a', until: 1000 })
    let begun = 1
    for (let now = 0; now <= 60_000; now += 10) {
      if (typeof roomOf(allowance.quotasOf('a', true, now)) !== 'number') continue
      mail(allowance, OK, now)
      begun++
    }
    expect(begun).toBe(61)
  })
})

describe('all destinations together', () => {
  test('leave those with failures a quarter of the deliveries in flight and unknown ones half, of which a backlog gets half', () => {
    const allowance = open({}, 40)
    const fill = (isFresh: boolean, from: number) => {
      for (let i = from; ; i++) {
        const room = roomOf(allowance.quotasOf(`s${i}`, isFresh, 0))
        if (typeof room !== 'number') return { sites: i, room }
        allowance.started(`s${i}`, room, 0)
      }
    }
    expect(fill(false, 0)).toEqual({ sites: 2, room: { name: 'unknown backlog', until: null } })
    expect(fill(true, 2)).toEqual({ sites: 4, room: { name: 'unknown', until: null } })
    for (const site of ['s0', 's1', 's2', 's3']) {
      allowance.ended(site, { outcome: SLOWER, reached: true, startedAt: 0 }, 1)
    }
    expect(allowance.freed()).toContain('unknown backlog')
    expect(roomOf(allowance.quotasOf('s0', true, 1))).toEqual({ name: 'site s0', until: null })
    mail(allowance, SLOWER, 1, 'other')
    expect(roomOf(allowance.quotasOf('other', true, 2))).toEqual({ name: 'troubled', until: null })
    expect(roomOf(allowance.quotasOf('new', true, 2))).toBe(5)
  })

  test('never have more deliveries under way than their limits', () => {
    const site = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      fc.record({ do: fc.constant('start' as const), site, isFresh: fc.boolean() }),
      fc.record({ do: fc.constant('end' as const), site, outcome: fc.constantFrom(OK, SLOWER, FULL) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 5000 }) }),
    )
    const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const allowance = open({ maxConnections: 6 }, 24)
      const underWay = new Map<string, number[]>()
      let now = 0
      for (const each of steps) {
        if (each.do === 'wait') now += each.ms
        if (each.do === 'start') {
          const room = roomOf(allowance.quotasOf(each.site, each.isFresh, now))
          if (typeof room !== 'number') continue
          const { maxUnderWay, state: repute, pausedUntil } = allowance.stateOf(each.site, now)
          expect(pausedUntil).toBeNull()
          const starts = underWay.get(each.site) ?? []
          underWay.set(each.site, [...starts, ...Array.from({ length: room }, () => now)])
          allowance.started(each.site, room, now)
          expect(underWay.get(each.site)!.length).toBeLessThanOrEqual(maxUnderWay)
          const alike = allowance.sites(now).filter((other) => other.state === repute)
          const together = alike.reduce((sum, other) => sum + other.underWay, 0)
          if (repute !== 'proven') expect(together).toBeLessThanOrEqual(repute === 'unknown' ? 12 : 6)
        }
        if (each.do === 'end') {
          const startedAt = underWay.get(each.site)?.shift()
          if (startedAt !== undefined)
            allowance.ended(each.site, { outcome: each.outcome, reached: true, startedAt }, now)
        }
      }
      for (const { site: name, underWay: count, limit, maxLimit } of allowance.sites(now)) {
        expect(count).toBe(underWay.get(name)?.length ?? 0)
        expect(limit).toBeGreaterThanOrEqual(1)
        expect(limit).toBeLessThanOrEqual(maxLimit)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })
})

/** What all quotas leave, or the blocker. */
function roomOf(answer: Quota[] | Blocker): number | Blocker {
  if (!Array.isArray(answer)) return answer
  return Math.min(...answer.map((quota) => ('most' in quota ? quota.most : Number.NaN)))
}
