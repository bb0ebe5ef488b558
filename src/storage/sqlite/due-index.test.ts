import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Agenda, createAgenda } from './due-index.ts'

const always = () => true

test('the key that has been due longest comes first', () => {
  const agenda = createAgenda()
  for (const [key, at] of [
    ['b', 20],
    ['a', 10],
    ['c', 30],
  ] as const)
    agenda.offer(key, at)
  expect(agenda.nextAt(always)).toBe(10)
  expect([agenda.take(25, always), agenda.take(25, always), agenda.take(25, always)]).toEqual(['a', 'b', null])
  expect(agenda.nextAt(always)).toBe(30)
})

test('nothing is due on an empty agenda', () => {
  const agenda = createAgenda()
  expect(agenda.take(1, always)).toBeNull()
  expect(agenda.nextAt(always)).toBeNull()
  agenda.set('a', null)
  expect(agenda.nextAt(always)).toBeNull()
})

test('an offer brings a key forward and never puts it off', () => {
  const agenda = createAgenda()
  agenda.offer('a', 10)
  agenda.offer('a', 20)
  expect(agenda.nextAt(always)).toBe(10)
  agenda.offer('a', 5)
  expect(agenda.nextAt(always)).toBe(5)
  agenda.set('a', 30)
  expect(agenda.nextAt(always)).toBe(30)
  agenda.set('a', null)
  expect(agenda.take(99, always)).toBeNull()
})

test('a key without room steps aside and comes back when it has some', () => {
  const agenda = createAgenda()
  agenda.offer('full', 1)
  agenda.offer('free', 2)
  const isFree = (key: string) => key === 'free'
  expect(agenda.take(9, isFree)).toBe('free')
  expect(agenda.take(9, isFree)).toBeNull()
  agenda.offer('full', 0)
  expect(agenda.nextAt(isFree)).toBeNull()
  expect(agenda.nextAt(always)).toBe(0)
  expect(agenda.take(9, always)).toBe('full')
  expect(agenda.take(9, always)).toBeNull()
})

test('what is cleared is gone, kept aside or not', () => {
  const agenda = createAgenda()
  agenda.offer('a', 1)
  agenda.offer('b', 2)
  agenda.take(9, (key) => key === 'b')
  agenda.clear()
  expect(agenda.nextAt(always)).toBeNull()
  agenda.offer('a', 3)
  expect(agenda.take(9, always)).toBe('a')
})

test('leases far ahead of a busy key do not hide when it is due', () => {
  const agenda = createAgenda()
  agenda.set('other', 1e9)
  for (let now = 0; now < 100_000; now++) {
    agenda.offer('busy', now)
    expect(agenda.take(now, always)).toBe('busy')
    agenda.set('busy', now + 900_000)
  }
  expect(agenda.nextAt(always)).toBe(99_999 + 900_000)
  expect(agenda.nextAt((key) => key === 'other')).toBe(1e9)
})

describe('keys behind a named obstacle', () => {
  const behind = (name: string, until: number | null = null) => ({ name, until })

  test('wait until it is freed, and then one at a time as long as there is room', () => {
    const agenda = createAgenda()
    for (let i = 0; i < 1000; i++) agenda.offer(`dead${i}`, i)
    agenda.offer('fine', 5000)
    let looks = 0
    let room = 0
    const look = (key: string) => {
      looks++
      if (key === 'fine') return true
      return room > 0 || behind('full')
    }
    expect(agenda.take(9999, look)).toBe('fine')
    looks = 0
    expect(agenda.take(9999, look)).toBeNull()
    expect(looks).toBe(0)
    for (room = 2; room > 0; room--) {
      agenda.freed('full')
      expect(agenda.take(9999, look)).toBe(`dead${2 - room}`)
    }
    looks = 0
    expect(agenda.take(9999, look)).toBeNull()
    expect(agenda.nextAt(look, 9999)).toBeNull()
    expect(looks).toBe(1)
  })

  test('come back by themselves when it has an end, and one wakes up for all', () => {
    const agenda = createAgenda()
    for (let i = 0; i < 100; i++) agenda.offer(`paused${i}`, i)
    let until = 500
    const look = () => behind('site', until)
    expect(agenda.nextAt(look, 200)).toBe(500)
    let looks = 0
    until = 900
    const again = () => {
      looks++
      return look()
    }
    expect(agenda.take(600, again)).toBeNull()
    expect(looks).toBe(1)
    expect(agenda.nextAt(again, 600)).toBe(900)
    expect(agenda.take(900, always)).toBe('paused0')
  })

  test('may find another one behind it', () => {
    const agenda = createAgenda()
    agenda.offer('a', 1)
    agenda.offer('b', 2)
    expect(agenda.take(9, () => behind('question'))).toBeNull()
    agenda.freed('question')
    expect(agenda.take(9, () => behind('site'))).toBeNull()
    agenda.freed('question')
    expect(agenda.take(9, always)).toBeNull()
    agenda.freed('site')
    expect([agenda.take(9, always), agenda.take(9, always), agenda.take(9, always)]).toEqual(['a', 'b', null])
  })

  test('that are due later are not looked at before', () => {
    const agenda = createAgenda()
    agenda.offer('later', 100)
    const never = () => {
      throw new Error('looked at')
    }
    expect(agenda.nextAt(never, 50)).toBe(100)
  })

  test('are never lost: whatever is offered goes in the end', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.oneof(
      fc.record({ do: fc.constant('offer' as const), key, at: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ do: fc.constant('set' as const), key, at: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ do: fc.constant('take' as const), full: fc.subarray(['x', 'y', 'z']) }),
    )
    const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const agenda = createAgenda()
      const waiting = new Set<string>()
      const siteOf: Record<string, string> = { a: 'x', b: 'x', c: 'y', d: 'y', e: 'z', f: 'z' }
      let full: string[] = []
      const look = (each: string) => (full.includes(siteOf[each]!) ? behind(siteOf[each]!) : true)
      for (const each of steps) {
        if (each.do === 'take') {
          // What was full and is no longer is told, as the owner of the rooms must.
          for (const site of full.filter((name) => !each.full.includes(name))) agenda.freed(site)
          full = each.full
          const taken = agenda.take(20, look)
          const free = [...waiting].filter((name) => !full.includes(siteOf[name]!))
          if (taken === null) expect(free).toEqual([])
          else {
            expect(free).toContain(taken)
            waiting.delete(taken)
          }
          continue
        }
        if (each.do === 'offer') agenda.offer(each.key, each.at)
        else agenda.set(each.key, each.at)
        waiting.add(each.key)
      }
      for (const site of full) agenda.freed(site)
      full = []
      for (let taken = agenda.take(20, look); taken !== null; taken = agenda.take(20, look)) waiting.delete(taken)
      expect([...waiting]).toEqual([])
    })
    fc.assert(property, { numRuns: 500 })
  })
})

interface Model {
  times: Map<string, number>
}

test('it does what a list searched from end to end would do', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const at = fc.integer({ min: 0, max: 30 })
  const rooms = fc.subarray(['a', 'b', 'c', 'd', 'e'])
  const step = fc.oneof(
    fc.record({ do: fc.constant('offer' as const), key, at }),
    fc.record({ do: fc.constant('set' as const), key, at: fc.option(at) }),
    fc.record({ do: fc.constant('take' as const), now: at, rooms }),
    fc.record({ do: fc.constant('nextAt' as const), rooms }),
    fc.record({ do: fc.constant('clear' as const) }),
  )
  const property = fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
    const agenda = createAgenda()
    const model: Model = { times: new Map() }
    for (const each of steps) {
      if (each.do === 'offer') {
        agenda.offer(each.key, each.at)
        model.times.set(each.key, Math.min(each.at, model.times.get(each.key) ?? each.at))
      } else if (each.do === 'set') {
        agenda.set(each.key, each.at)
        if (each.at === null) model.times.delete(each.key)
        else model.times.set(each.key, each.at)
      } else if (each.do === 'clear') {
        agenda.clear()
        model.times.clear()
      } else if (each.do === 'nextAt') {
        expect(agenda.nextAt((name) => each.rooms.includes(name))).toBe(earliest(model, each.rooms))
      } else {
        takesTheSame(agenda, model, each.now, each.rooms)
      }
    }
  })
  fc.assert(property, { numRuns: 300 })
})

/** Of keys due at the same time either may come first; whichever it was has gone from both. */
function takesTheSame(agenda: Agenda, model: Model, now: number, rooms: string[]): void {
  const at = earliest(model, rooms)
  const taken = agenda.take(now, (name) => rooms.includes(name))
  if (at === null || at > now) {
    expect(taken).toBeNull()
    return
  }
  expect(rooms).toContain(taken!)
  expect(model.times.get(taken!)).toBe(at)
  model.times.delete(taken!)
}

function earliest({ times }: Model, rooms: string[]): number | null {
  const due = rooms.flatMap((name) => times.get(name) ?? [])
  return due.length === 0 ? null : Math.min(...due)
}
