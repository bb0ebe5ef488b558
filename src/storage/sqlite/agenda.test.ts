import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Agenda, createAgenda } from './agenda.ts'

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
