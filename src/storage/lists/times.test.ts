import { expect, test } from 'bun:test'
import { SLACK_MS } from '../page.ts'
import { readingOn } from '../sqlite/database.ts'
import { connect } from '../sqlite/driver.ts'
import type { TimeRange } from '../store.ts'
import { firstSince, type Numbers, numbersIn } from './times.ts'

const HOUR = 3_600_000
/** Numbers with gaps, an hour apart; each time may be off by less than the slack. */
const records = Array.from({ length: 50 }, (_, at) => ({
  number: 3 * at + 2,
  time: at * HOUR + ((at * 7) % 5) * 10_000,
}))
const db = connect(':memory:', { busyTimeoutMs: 0 })
db.exec(`create table records (owner text, number integer primary key, time integer) strict;
  create index records_of_owner on records (owner, number)`)
const insert = db.prepare('insert into records (owner, number, time) values (?, ?, ?)')
for (const { number, time } of records) {
  insert.run('one', number, time)
  insert.run('other', number + 1, 0)
}
const since = firstSince({ table: 'records', index: 'records_of_owner', owner: 'owner', time: 'time' })
const read = readingOn(db)
const numbersOf = (range: TimeRange, known: Numbers, owner = 'one') =>
  read(numbersIn(range, known, (values) => since({ ...values, owner })))
const NONE = { low: 9, high: 9 }
const known = { low: 0, high: 3 * 50 }

test('the numbers of a time range cover its records, and none more than an hour outside', () => {
  for (let from = -1; from <= 51; from++) {
    for (let to = from; to <= 51; to++) {
      const range = { createdAfter: from * HOUR, createdBefore: to * HOUR }
      const { low, high } = numbersOf(range, known)
      const within = records.filter(({ number }) => number >= low && number < high)
      const asked = records.filter(({ time }) => time >= range.createdAfter && time < range.createdBefore)
      for (const each of asked) expect(within).toContain(each)
      for (const { time } of within) {
        expect(time >= range.createdAfter - SLACK_MS && time < range.createdBefore + SLACK_MS).toBe(true)
      }
    }
  }
})

test('an open range keeps the known numbers; a range without records has none', () => {
  const open = { createdAfter: null, createdBefore: null }
  expect(numbersOf(open, { low: 4, high: 90 })).toEqual({ low: 4, high: 90 })
  expect(numbersOf({ createdAfter: 5, createdBefore: 6 }, { low: 9, high: 9 }, 'none')).toEqual(NONE)
})
