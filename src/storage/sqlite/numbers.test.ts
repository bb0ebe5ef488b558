import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Connection, connect } from './driver.ts'
import { migrate } from './migrate.ts'
import { Numbers } from './numbers.ts'

let db: Connection
let changed: () => void
let numbers: Numbers
beforeAll(() => {
  db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  numbers = new Numbers(db, {
    check: () => {},
    glance: () => {},
    onChange: (listener) => {
      changed = listener
    },
  })
})
afterAll(() => db.close())

const write = (number: number) =>
  db
    .prepare(
      `insert into events (number, id, organization_id, kind, type, mode, created_at, body)
        values (?, ?, '', 1, '', '', 0, '')`,
    )
    .run(number, `evt_${number}`)

test('numbers count up without a look at the table', () => {
  expect([numbers.next('events'), numbers.next('events'), numbers.next('deliveries')]).toEqual([1, 2, 1])
})

test('numbers of a transaction that was rolled back are given again', () => {
  write(1)
  numbers.drop()
  expect(numbers.next('events')).toBe(2)
})

test('numbers follow those that another process gave', () => {
  write(7)
  changed()
  expect(numbers.next('events')).toBe(8)
})

test('the number of a removed event is not given again', () => {
  db.exec('delete from events')
  numbers.drop()
  expect(numbers.next('events')).toBe(8)
})
