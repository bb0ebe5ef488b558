import { expect, test } from 'bun:test'
import type { Followed } from '../../storage/store.ts'
import { createRecent } from './recent.ts'

/** Number → a position. */
const at = (number: number) => String(number).padStart(2, '0')

/** An event at each position, whose body has that many characters. */
function page(places: number[], upTo = places.at(-1)!, size = 1): Followed {
  const events = places.map((place) => ({ place: at(place), id: `evt_${place}`, body: 'x'.repeat(size) }))
  return { events: events as unknown as Followed['events'], upTo: at(upTo) } // only what it looks at
}

test('keeps the events after a position until they are evicted, and then reports the position as too old', () => {
  const recent = createRecent(at(10), { maxEvents: 3, maxCharacters: 100 })
  const placesBehind = (place: number) => recent.behind(at(place))?.map((event) => Number(event.place)) ?? null
  expect([Number(recent.upTo()), placesBehind(10), placesBehind(9)]).toEqual([10, [], null])
  recent.add(page([12, 15], 20)) // the positions between belong to others
  expect([Number(recent.upTo()), placesBehind(10), placesBehind(12), placesBehind(13), placesBehind(20)]).toEqual([
    20,
    [12, 15],
    [15],
    [15],
    [],
  ])
  recent.add(page([21, 22]))
  expect([placesBehind(11), placesBehind(12), placesBehind(21), placesBehind(30)]).toEqual([
    null,
    [15, 21, 22],
    [22],
    [],
  ])
  recent.add(page([], 40))
  expect([Number(recent.upTo()), placesBehind(22)]).toEqual([40, []])
})

test('a few large events fill it too, and one that is too large is not kept', () => {
  const recent = createRecent('', { maxEvents: 100, maxCharacters: 10 })
  recent.add(page([1, 2, 3], 3, 4))
  expect([recent.behind(''), recent.behind(at(1))?.length]).toEqual([null, 2])
  recent.add(page([4], 4, 11))
  expect([recent.behind(at(3)), recent.behind(at(4)), Number(recent.upTo())]).toEqual([null, [], 4])
})
