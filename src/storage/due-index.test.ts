import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DueIndex } from './due-index.ts'
import type { Look } from './store.ts'

const always = () => true

test('the key that has been due longest comes first', () => {
  const dueIndex = new DueIndex()
  for (const [key, at] of [
    ['b', 20],
    ['a', 10],
    ['c', 30],
  ] as const)
    dueIndex.offer(key, at)
  expect(dueIndex.nextAt(always)).toBe(10)
  expect([dueIndex.take(25, always), dueIndex.take(25, always), dueIndex.take(25, always)]).toEqual(['a', 'b', null])
  expect(dueIndex.nextAt(always)).toBe(30)
})

test('nothing is due on an empty index', () => {
  const dueIndex = new DueIndex()
  expect(dueIndex.take(1, always)).toBeNull()
  expect(dueIndex.nextAt(always)).toBeNull()
})

test('an offer makes a key due earlier and never later', () => {
  const dueIndex = new DueIndex()
  dueIndex.offer('a', 10)
  dueIndex.offer('a', 20)
  expect(dueIndex.nextAt(always)).toBe(10)
  dueIndex.offer('a', 5)
  expect(dueIndex.nextAt(always)).toBe(5)
  expect([dueIndex.take(99, always), dueIndex.take(99, always)]).toEqual(['a', null])
})

test('a key without capacity is set aside and returns when it has some', () => {
  const dueIndex = new DueIndex()
  dueIndex.offer('full', 1)
  dueIndex.offer('free', 2)
  const isFree = (key: string) => key === 'free'
  expect(dueIndex.take(9, isFree)).toBe('free')
  expect(dueIndex.take(9, isFree)).toBeNull()
  dueIndex.offer('full', 0)
  expect(dueIndex.nextAt(isFree)).toBeNull()
  expect(dueIndex.nextAt(always)).toBe(0)
  expect(dueIndex.take(9, always)).toBe('full')
  expect(dueIndex.take(9, always)).toBeNull()
})

test('a cleared key is gone, set aside or not', () => {
  const dueIndex = new DueIndex()
  dueIndex.offer('a', 1)
  dueIndex.offer('b', 2)
  dueIndex.take(9, (key) => key === 'b')
  dueIndex.clear()
  expect(dueIndex.nextAt(always)).toBeNull()
  dueIndex.offer('a', 3)
  expect(dueIndex.take(9, always)).toBe('a')
})

test('times far ahead of a busy key do not hide when it is due', () => {
  const dueIndex = new DueIndex()
  dueIndex.offer('other', 1e9)
  for (let now = 0; now < 100_000; now++) {
    dueIndex.offer('busy', now)
    expect(dueIndex.take(now, always)).toBe('busy')
    dueIndex.offer('busy', now + 900_000)
  }
  expect(dueIndex.nextAt(always)).toBe(99_999 + 900_000)
  expect(dueIndex.nextAt((key) => key === 'other')).toBe(1e9)
})

test('after the clock was set back, a blocker that ends later is looked at again', () => {
  const dueIndex = new DueIndex()
  let now = 1e9
  let pauseMs = 1_000
  const look = () => (pauseMs === 0 ? true : { name: 'pause', until: now + pauseMs })
  dueIndex.offer('a', 5)
  expect(dueIndex.nextAt(look, now)).toBe(1e9 + 1_000)
  now = 1_000
  expect(dueIndex.nextAt(look, now)).toBe(2_000)
  pauseMs = 0
  expect(dueIndex.take(2_000, look)).toBe('a')
})

describe('keys behind a named blocker', () => {
  const behind = (name: string, until: number | null = null) => ({ name, until })

  test('wait until it is freed, and then come one at a time while there is capacity', () => {
    const dueIndex = new DueIndex()
    for (let i = 0; i < 1000; i++) dueIndex.offer(`dead${i}`, i)
    dueIndex.offer('fine', 5000)
    let looks = 0
    let free = 0
    const look = (key: string) => {
      looks++
      if (key === 'fine') return true
      return free > 0 || behind('full')
    }
    expect(dueIndex.take(9999, look)).toBe('fine')
    looks = 0
    expect(dueIndex.take(9999, look)).toBeNull()
    expect(looks).toBe(0)
    for (free = 2; free > 0; free--) {
      dueIndex.freed('full')
      expect(dueIndex.take(9999, look)).toBe(`dead${2 - free}`)
    }
    looks = 0
    expect(dueIndex.take(9999, look)).toBeNull()
    expect(dueIndex.nextAt(look, 9999)).toBeNull()
    expect(looks).toBe(1)
  })

  test('return by themselves when it ends, and one wakes up for all', () => {
    const dueIndex = new DueIndex()
    for (let i = 0; i < 100; i++) dueIndex.offer(`paused${i}`, i)
    let until = 500
    const look = () => behind('site', until)
    expect(dueIndex.nextAt(look, 200)).toBe(500)
    let looks = 0
    until = 900
    const again = () => {
      looks++
      return look()
    }
    expect(dueIndex.take(600, again)).toBeNull()
    expect(looks).toBe(1)
    expect(dueIndex.nextAt(again, 600)).toBe(900)
    expect(dueIndex.take(900, always)).toBe('paused0')
  })

  test('may find another blocker behind it', () => {
    const dueIndex = new DueIndex()
    dueIndex.offer('a', 1)
    dueIndex.offer('b', 2)
    expect(dueIndex.take(9, () => behind('question'))).toBeNull()
    dueIndex.freed('question')
    expect(dueIndex.take(9, () => behind('site'))).toBeNull()
    dueIndex.freed('question')
    expect(dueIndex.take(9, always)).toBeNull()
    dueIndex.freed('site')
    expect([dueIndex.take(9, always), dueIndex.take(9, always), dueIndex.take(9, always)]).toEqual(['a', 'b', null])
  })

  test('that are due later are not examined before', () => {
    const dueIndex = new DueIndex()
    dueIndex.offer('later', 100)
    const never = () => {
      throw new Error('looked at')
    }
    expect(dueIndex.nextAt(never, 50)).toBe(100)
  })

  test('are never lost: every key is taken in the end', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      fc.record({ do: fc.constant('offer' as const), key, at: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ do: fc.constant('take' as const), full: fc.subarray(['x', 'y', 'z']) }),
    )
    const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const dueIndex = new DueIndex()
      const waiting = new Set<string>()
      const siteOf: Record<string, string> = { a: 'x', b: 'x', c: 'y', d: 'y', e: 'z', f: 'z' }
      let full: string[] = []
      const look = (each: string) => (full.includes(siteOf[each]!) ? behind(siteOf[each]!) : true)
      for (const each of steps) {
        if (each.do === 'take') {
          // The owner must report a freed quota.
          for (const site of full.filter((name) => !each.full.includes(name))) dueIndex.freed(site)
          full = each.full
          const taken = dueIndex.take(20, look)
          const free = [...waiting].filter((name) => !full.includes(siteOf[name]!))
          if (taken === null) expect(free).toEqual([])
          else {
            expect(free).toContain(taken)
            waiting.delete(taken)
          }
          continue
        }
        dueIndex.offer(each.key, each.at)
        waiting.add(each.key)
      }
      for (const site of full) dueIndex.freed(site)
      full = []
      for (let taken = dueIndex.take(20, look); taken !== null; taken = dueIndex.take(20, look)) waiting.delete(taken)
      expect([...waiting]).toEqual([])
    })
    fc.assert(property, { numRuns: 500 })
  })
})

interface Model {
  times: Map<string, number>
}

test('behaves like a list that is searched from end to end', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const at = fc.integer({ min: 0, max: 30 })
  const free = fc.subarray(['a', 'b', 'c', 'd', 'e'])
  const step = fc.oneof(
    fc.record({ do: fc.constant('offer' as const), key, at }),
    fc.record({ do: fc.constant('take' as const), now: at, free }),
    fc.record({ do: fc.constant('nextAt' as const), free }),
    fc.record({ do: fc.constant('clear' as const) }),
  )
  const property = fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
    const dueIndex = new DueIndex()
    const model: Model = { times: new Map() }
    for (const each of steps) {
      if (each.do === 'offer') {
        dueIndex.offer(each.key, each.at)
        model.times.set(each.key, Math.min(each.at, model.times.get(each.key) ?? each.at))
      } else if (each.do === 'clear') {
        dueIndex.clear()
        model.times.clear()
      } else if (each.do === 'nextAt') {
        expect(dueIndex.nextAt((name) => each.free.includes(name))).toBe(earliest(model, each.free))
      } else {
        takesTheSame(dueIndex, model, each.now, each.free)
      }
    }
  })
  fc.assert(property, { numRuns: 300 })
})

/** Of keys due at the same time either may come first; the one taken is gone from both. */
function takesTheSame(dueIndex: DueIndex, model: Model, now: number, free: string[]): void {
  const at = earliest(model, free)
  const taken = dueIndex.take(now, (name) => free.includes(name))
  if (at === null || at > now) {
    expect(taken).toBeNull()
    return
  }
  expect(free).toContain(taken!)
  expect(model.times.get(taken!)).toBe(at)
  model.times.delete(taken!)
}

function earliest({ times }: Model, free: string[]): number | null {
  const due = free.flatMap((name) => times.get(name) ?? [])
  return due.length === 0 ? null : Math.min(...due)
}

describe('a plan', () => {
  const one = (name: string) => ({ quotas: [{ name, most: 1 }] })
  const planAt = (index: DueIndex, now: number, look: Look, limit = 9) =>
    index.plan({ now, limit, look }).map(({ key, dueAt }) => [key, dueAt])

  test('takes the keys that are due, longest due first, and leaves the others', () => {
    const index = new DueIndex()
    for (const [key, at] of [
      ['late', 5],
      ['first', 1],
      ['second', 2],
      ['third', 3],
    ] as const)
      index.offer(key, at)
    expect(planAt(index, 4, () => ({ quotas: [] }), 2)).toEqual([
      ['first', 1],
      ['second', 2],
    ])
    expect(index.nextAt(() => true)).toBe(3)
  })

  test('counts one delivery of each key before the next, and examines again what found no capacity by that', () => {
    const index = new DueIndex()
    for (const key of ['a', 'b', 'c']) index.offer(key, 1)
    expect(planAt(index, 1, () => one('shared'))).toHaveLength(1)
    // The claim found nothing for the planned key: the others are not lost.
    expect(planAt(index, 1, () => one('shared'))).toHaveLength(1)
    expect(planAt(index, 1, () => one('shared'))).toHaveLength(1)
    expect(planAt(index, 1, () => one('shared'))).toEqual([])
  })

  test('whose check throws leaves every key on the index', () => {
    const index = new DueIndex()
    for (const key of ['a', 'b', 'c']) index.offer(key, 1)
    const look = (key: string) => {
      if (key === 'b') throw new Error('broken')
      return { quotas: [] }
    }
    expect(() => planAt(index, 1, look)).toThrow('broken')
    expect(planAt(index, 1, () => ({ quotas: [] }))).toHaveLength(3)
  })

  test('lets keys of one quota take turns, however long one of them has been due', () => {
    const index = new DueIndex()
    index.offer('old', 1)
    index.offer('young', 100)
    const order: string[] = []
    for (let n = 0; n < 6; n++) {
      const [key] = planAt(index, 100, () => one('shared'))[0]! as [string, number]
      order.push(key)
      index.putBehind(key, key === 'old' ? 1 : 100, 'shared')
    }
    expect(order).toEqual(['old', 'young', 'old', 'young', 'old', 'young'])
  })

  test('that puts a key back behind a blocker never hides it, even if the blocker is never freed', () => {
    const index = new DueIndex()
    index.putBehind('a', 1, 'shared')
    index.putBehind('b', 2, 'shared')
    expect(planAt(index, 5, () => ({ quotas: [] })).map(([key]) => key)).toEqual(['a', 'b'])
  })

  test('keeps an earlier time that was offered meanwhile', () => {
    const index = new DueIndex()
    index.offer('a', 3)
    expect(planAt(index, 5, () => ({ quotas: [] }))).toEqual([['a', 3]])
    index.offer('a', 1)
    index.putBehind('a', 3, 'shared')
    expect(index.nextAt(() => true)).toBe(1)
  })
})
