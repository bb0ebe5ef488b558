import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Outcome } from '../../../model/delivery.ts'
import type { Blocker, Quota } from '../../../storage/store.ts'
import { NodeParts } from '../../../storage/store.ts'
import { DestinationConcurrency } from './concurrency.ts'
import type { DestinationTerms } from './destination-limits.ts'

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

const TERMS: DestinationTerms = { maxConnections: 20, maxMailsPerConnection: 500, maxMailsPerMinute: null }
const open = (terms: Partial<DestinationTerms> = {}, maxInFlight = 1000) =>
  new DestinationConcurrency({
    maxInFlight,
    termsOf: () => ({ ...TERMS, ...terms }),
    longestPauseMs: () => 3_600_000,
  })

/** One mail that ends at once. */
function mail(concurrency: DestinationConcurrency, outcome: Outcome, now: number, destination = 'a', reached = true) {
  concurrency.started(destination, 1, now)
  concurrency.ended(destination, { outcome, reached, startedAt: now }, now)
}
const state = (concurrency: DestinationConcurrency, now = 0, destination = 'a') => concurrency.stateOf(destination, now)

describe('a destination', () => {
  test('starts with few connections and gets one more after each run of accepted mails, up to its maximum', () => {
    const concurrency = open()
    expect(state(concurrency)).toMatchObject({ state: 'unknown', limit: 5, maxUnderWay: 5, lowered: null })
    for (let i = 0; i < 5; i++) mail(concurrency, OK, 0)
    expect(state(concurrency)).toMatchObject({ state: 'proven', limit: 6, maxUnderWay: 24 })
    for (let i = 0; i < 200; i++) mail(concurrency, OK, 0)
    expect(state(concurrency).limit).toBe(20)
  })

  test('is not judged by a mail whose own TLS requirement failed', () => {
    const concurrency = open()
    for (const rule of ['tls:starttls', 'mta_sts:mx', 'dane:lookup']) {
      for (let i = 0; i < 5; i++) mail(concurrency, { ...SLOWER, code: '4.7.5', cause: { class: 'tls', rule } }, 0)
      expect(state(concurrency)).toMatchObject({ limit: 5, lowered: null })
    }
  })

  test('gets half of its connections after a failure, says why, and recovers slowly', () => {
    const concurrency = open()
    for (let i = 0; i < 200; i++) mail(concurrency, OK, 0)
    mail(concurrency, SLOWER, 7)
    const lowered = { class: 'rate', at: 7 } // and nothing of the reply, because others read it
    expect(state(concurrency, 7)).toMatchObject({ state: 'troubled', limit: 10, maxUnderWay: 10, lowered })
    for (let i = 0; i < 19; i++) mail(concurrency, OK, 8)
    expect(state(concurrency, 8)).toMatchObject({ state: 'proven', limit: 10, lowered })
    mail(concurrency, OK, 8)
    expect(state(concurrency, 8).limit).toBe(11)
  })

  test('is judged once for concurrent attempts', () => {
    const concurrency = open()
    for (let i = 0; i < 200; i++) mail(concurrency, OK, 0)
    concurrency.started('a', 20, 1)
    for (let i = 0; i < 20; i++) concurrency.ended('a', { outcome: SLOWER, reached: true, startedAt: 1 }, 2 + i)
    expect(state(concurrency, 30)).toMatchObject({ limit: 10, pausedUntil: null })
  })

  test('is paused when its failures continue, longer each time, down to one connection and up to five minutes', () => {
    const concurrency = open()
    const pauses: number[] = []
    let now = 0
    for (let i = 0; i < 12; i++) {
      mail(concurrency, SLOWER, ++now)
      const { pausedUntil } = state(concurrency, now)
      pauses.push(pausedUntil === null ? 0 : pausedUntil - now)
      if (pausedUntil !== null) {
        expect(startableOf(concurrency.quotasOf('a', true, now))).toEqual({ name: 'destination a', until: pausedUntil })
        now = pausedUntil
      }
      expect(startableOf(concurrency.quotasOf('a', true, now))).toBeGreaterThan(0)
    }
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000))
    expect(state(concurrency, now).limit).toBe(1)
    mail(concurrency, OK, now)
    mail(concurrency, SLOWER, now + 1)
    expect(state(concurrency, now + 1).pausedUntil).toBeNull()
  })

  test('is paused no longer than until the retry of the failed mail', () => {
    const concurrency = new DestinationConcurrency({
      maxInFlight: 9,
      termsOf: () => TERMS,
      longestPauseMs: () => 800,
    })
    for (let now = 0; now < 5000; now += 1000) mail(concurrency, SLOWER, now)
    expect(state(concurrency, 4000).pausedUntil).toBe(4800)
  })

  test('is not limited for a full mailbox, nor raised for a mail that reached no server', () => {
    const concurrency = open()
    mail(concurrency, FULL, 0)
    expect(state(concurrency)).toMatchObject({ state: 'proven', lowered: null })
    mail(concurrency, OK, 0, 'b', false)
    expect(state(concurrency, 0, 'b').state).toBe('unknown')
  })

  test('gets its capacity back when a start is undone, and frees its waiters', () => {
    const concurrency = open({ maxMailsPerMinute: 60 })
    concurrency.started('a', 1, 0)
    expect(concurrency.freed()).toEqual([])
    concurrency.undone('a', 1)
    expect(concurrency.freed()).toEqual(['destination a', 'unknown', 'unknown backlog'])
    expect(startableOf(concurrency.quotasOf('a', true, 0))).toBe(1)
  })

  test('with a limit per minute gets no more, and says when the next may start', () => {
    const concurrency = open({ maxMailsPerMinute: 60 })
    expect(startableOf(concurrency.quotasOf('a', true, 0))).toBe(1)
    mail(concurrency, OK, 0)
    expect(startableOf(concurrency.quotasOf('a', true, 0))).toEqual({ name: 'destination a', until: 1000 })
    let begun = 1
    for (let now = 0; now <= 60_000; now += 10) {
      if (typeof startableOf(concurrency.quotasOf('a', true, now)) !== 'number') continue
      mail(concurrency, OK, now)
      begun++
    }
    expect(begun).toBe(61)
  })
})

describe('all destinations together', () => {
  test('leave those with failures a quarter of the deliveries in flight and unknown ones half, of which a backlog gets half', () => {
    const concurrency = open({}, 40)
    const fill = (isFresh: boolean, from: number) => {
      for (let i = from; ; i++) {
        const startable = startableOf(concurrency.quotasOf(`s${i}`, isFresh, 0))
        if (typeof startable !== 'number') return { destinations: i, startable }
        concurrency.started(`s${i}`, startable, 0)
      }
    }
    expect(fill(false, 0)).toEqual({ destinations: 2, startable: { name: 'unknown backlog', until: null } })
    expect(fill(true, 2)).toEqual({ destinations: 4, startable: { name: 'unknown', until: null } })
    for (const destination of ['s0', 's1', 's2', 's3']) {
      concurrency.ended(destination, { outcome: SLOWER, reached: true, startedAt: 0 }, 1)
    }
    expect(concurrency.freed()).toContain('unknown backlog')
    expect(startableOf(concurrency.quotasOf('s0', true, 1))).toEqual({ name: 'destination s0', until: null })
    mail(concurrency, SLOWER, 1, 'other')
    expect(startableOf(concurrency.quotasOf('other', true, 2))).toEqual({ name: 'troubled', until: null })
    expect(startableOf(concurrency.quotasOf('new', true, 2))).toBe(5)
  })

  test('never have more deliveries under way than their limits', () => {
    const destination = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      fc.record({ do: fc.constant('start' as const), destination, isFresh: fc.boolean() }),
      fc.record({ do: fc.constant('end' as const), destination, outcome: fc.constantFrom(OK, SLOWER, FULL) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 5000 }) }),
    )
    const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const concurrency = open({ maxConnections: 6 }, 24)
      const underWay = new Map<string, number[]>()
      let now = 0
      for (const each of steps) {
        if (each.do === 'wait') now += each.ms
        if (each.do === 'start') {
          const startable = startableOf(concurrency.quotasOf(each.destination, each.isFresh, now))
          if (typeof startable !== 'number') continue
          const { maxUnderWay, state: level, pausedUntil } = concurrency.stateOf(each.destination, now)
          expect(pausedUntil).toBeNull()
          const starts = underWay.get(each.destination) ?? []
          underWay.set(each.destination, [...starts, ...Array.from({ length: startable }, () => now)])
          concurrency.started(each.destination, startable, now)
          expect(underWay.get(each.destination)!.length).toBeLessThanOrEqual(maxUnderWay)
          const alike = concurrency.destinations(now).filter((other) => other.state === level)
          const together = alike.reduce((sum, other) => sum + other.underWay, 0)
          if (level !== 'proven') expect(together).toBeLessThanOrEqual(level === 'unknown' ? 12 : 6)
        }
        if (each.do === 'end') {
          const startedAt = underWay.get(each.destination)?.shift()
          if (startedAt !== undefined)
            concurrency.ended(each.destination, { outcome: each.outcome, reached: true, startedAt }, now)
        }
      }
      for (const { destination: name, underWay: count, limit, maxLimit } of concurrency.destinations(now)) {
        expect(count).toBe(underWay.get(name)?.length ?? 0)
        expect(limit).toBeGreaterThanOrEqual(1)
        expect(limit).toBeLessThanOrEqual(maxLimit)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })
})

/** What all quotas leave, or the blocker. */
function startableOf(answer: Quota[] | Blocker): number | Blocker {
  if (!Array.isArray(answer)) return answer
  return Math.min(...answer.map((quota) => ('most' in quota ? quota.most : Number.NaN)))
}

describe('two nodes', () => {
  /** Nodes whose parts have grown, with limits as open-admission.ts divides them. */
  const pair = (terms: Partial<DestinationTerms>) => {
    const state = { nodes: 2 }
    const shares = [0, 1].map((place) => ({ nodes: 2, place }))
    const alone = { nodes: 1, place: 0 }
    const clock = { now: () => at }
    let at = 0
    const nodes = shares.map((share) => {
      const parts = new NodeParts({ share: () => (state.nodes === 2 ? share : alone), elsewhere: () => null }, clock)
      const whole = { ...TERMS, ...terms }
      const termsOf = (key: string) => ({
        ...whole,
        maxConnections: parts.of(whole.maxConnections, key),
        maxMailsPerMinute: whole.maxMailsPerMinute === null ? null : parts.ofRate(whole.maxMailsPerMinute),
      })
      const concurrency = new DestinationConcurrency({ maxInFlight: 1_000, termsOf, parts, longestPauseMs: () => 0 })
      return { parts, concurrency }
    })
    at = 2_000
    const most = (node: number, now = at) => {
      const quotas = nodes[node]!.concurrency.quotasOf('a', true, now)
      if (!Array.isArray(quotas)) return quotas
      return Math.min(...quotas.map((quota) => ('most' in quota ? quota.most : Number.NaN)))
    }
    return { state, nodes, most, advance: (ms: number) => (at += ms) }
  }

  test('together keep to the connections of a destination, however good its reputation is at each', () => {
    const { nodes, most } = pair({ maxConnections: 7 })
    for (const { concurrency } of nodes) for (let i = 0; i < 300; i++) mail(concurrency, OK, 2_000)
    expect(nodes.map(({ concurrency }) => concurrency.connectionsOf('a', 2_000).connections).sort()).toEqual([3, 4])
    expect([most(0), most(1)].sort()).toEqual([12, 16]) // with those composed ahead
    expect(nodes.map(({ concurrency }) => state(concurrency).maxLimit).sort()).toEqual([3, 4])
  })

  test('share a single connection by one of them having it, and the other gets it when that one has left', () => {
    const { state: cluster, nodes, most, advance } = pair({ maxConnections: 1 })
    const blocked = { name: 'destination a', until: null }
    const without = [most(0), most(1)].findIndex((each) => each !== 1)
    expect([most(0), most(1)]).toEqual(without === 0 ? [blocked, 1] : [1, blocked])
    cluster.nodes = 1
    advance(0)
    expect(nodes[without]!.parts.freed()).toEqual(['destination a'])
    expect(most(without)).toEqual(blocked)
    advance(2_000)
    expect(nodes[without]!.parts.freed()).toEqual(['destination a'])
    expect(most(without)).toBe(1)
  })

  test('together keep to the mails per minute of a destination', () => {
    const { nodes, most, advance } = pair({ maxMailsPerMinute: 60 })
    let started = 0
    for (let second = 0; second < 60; second++) {
      for (const [at, { concurrency }] of nodes.entries()) {
        const now = 2_000 + second * 1_000
        const quota = most(at, now)
        const count = typeof quota === 'number' ? quota : 0
        for (let n = 0; n < count; n++) mail(concurrency, OK, now, 'a')
        started += count
      }
      advance(1_000)
    }
    expect(started).toBeGreaterThan(55)
    expect(started).toBeLessThanOrEqual(62) // and the one that each may send at once
  })
})
