import { expect, test } from 'bun:test'
import { connect } from './driver.ts'
import { createLateCopy } from './late-copy.ts'

test('we copy the log of a large change in a later turn, SQLite that of others', async () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  const pages = () => db.pragma('wal_autocheckpoint', { simple: true })
  let copies = 0
  const late = createLateCopy(db, () => copies++)
  const turn = () => new Promise(setImmediate)

  late.writing(100_000)
  expect(pages()).toBe(1_000)
  late.committed()
  await turn()
  expect(copies).toBe(0)

  late.writing(10_000_000)
  expect(pages()).toBe(0)
  late.committed()
  expect([pages(), copies]).toEqual([1_000, 0])
  await turn()
  expect(copies).toBe(1)

  late.writing(10_000_000)
  late.undone()
  late.committed()
  await turn()
  expect([pages(), copies]).toEqual([1_000, 1])

  late.writing(10_000_000)
  late.committed()
  db.close()
  await turn()
  expect(copies).toBe(1)
})
