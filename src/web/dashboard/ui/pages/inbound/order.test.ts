import { expect, test } from 'bun:test'
import { chooseRoute, type InboundRoute } from '../../../../../model/inbound-route.ts'
import { inOrder, prioritiesAfterMove } from './order.ts'

const CREATED = '2026-11-29T08:00:00.000Z'
const route = (id: string, type: string, priority = 0) => ({ id, match: { type }, priority, created_at: CREATED })
const NAMES = ['a', 'b', 'c', 'd']

/** The IDs in matching order after the move. */
function orderAfter(routes: ReturnType<typeof route>[], from: number, to: number): string[] {
  const changes = prioritiesAfterMove(inOrder(routes), from, to)
  return inOrder(routes.map((each) => ({ ...each, priority: changes.get(each.id) ?? each.priority }))).map(
    ({ id }) => id,
  )
}

test('every move between routes of every kind and priority gives the order that it asks for', () => {
  const cases = [
    NAMES.map((id) => route(id, 'address')),
    ['address', 'pattern', 'domain', 'catch_all'].map((type, at) => route(NAMES[at]!, type)),
    NAMES.map((id, at) => route(id, 'domain', 1000 - at)),
    NAMES.map((id, at) => route(id, 'catch_all', -997 - at)),
    NAMES.map((id, at) => route(id, at % 2 ? 'domain' : 'address', at < 2 ? 1000 : -1000)),
  ]
  for (const routes of cases) {
    const before = inOrder(routes).map(({ id }) => id)
    for (const from of NAMES.keys()) {
      for (const to of NAMES.keys()) {
        const wanted = before.toSpliced(from, 1).toSpliced(to, 0, before[from]!)
        expect(orderAfter(routes, from, to)).toEqual(wanted)
      }
    }
  }
})

test('of routes that are equal otherwise, the one that the server chooses is first', () => {
  const records = ['c', 'a', 'b'].map((id, at) => ({
    ...route(id, 'pattern'),
    created_at: `2026-11-29T08:00:0${id === 'c' ? 0 : 1}.00${at}Z`,
  }))
  for (const each of [records, records.map((record) => ({ ...record, created_at: CREATED }))]) {
    for (const order of [each, each.toReversed()]) {
      const routes = each.map(({ id, created_at }) => ({
        ...{ id, priority: 0, enabled: true, createdAt: Date.parse(created_at) },
        match: { type: 'pattern', value: '*@ours.test' },
      }))
      const chosen = chooseRoute(routes as InboundRoute[], { local: 'x', domain: 'ours.test' })
      expect(inOrder(order)[0].id).toBe(chosen!.route.id)
    }
  }
})

test('a move changes one priority where one fits', () => {
  const routes = [route('a', 'address', 20), route('b', 'address', 10), route('c', 'address', 0)]
  expect([...prioritiesAfterMove(routes, 2, 1)]).toEqual([['c', 15]])
  expect([...prioritiesAfterMove(routes, 0, 2)]).toEqual([['a', -10]])
  expect([...prioritiesAfterMove(routes, 1, 1)]).toEqual([])
})

test('priorities stay in the range of the API with a hundred routes', () => {
  const routes = Array.from({ length: 100 }, (_, at) => route(`r${at}`, 'address'))
  const changes = [...prioritiesAfterMove(routes, 99, 0).values()]
  expect(Math.max(...changes)).toBeLessThanOrEqual(1000)
  expect(Math.min(...changes)).toBeGreaterThanOrEqual(-1000)
})
