import { expect, test } from 'bun:test'
import { connect } from './driver.ts'
import { createLateCopy } from './late-copy.ts'

test('we copy the log of a large change in a later turn, SQLite that of others', async () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  const pages = () => db.pragma('wal_autocheckpoint', { simple: true })
  let copies = 0
  const late = createLateCopy(db)
  const copyLog = () => {
    copies++
  }
  const turn = () => new Promise(setImmediate)

  late.writing(100_000)
  expect(pages()).toBe(1_000)
  late.committed(copyLog)
  await turn()
  expect(copies).toBe(0)

  late.writing(10_000_000)
  expect(pages()).toBe(0)
  late.committed(copyLog)
  expect([pages(), copies]).toEqual([1_000, 0])
  await turn()
  expect(copies).toBe(1)

  late.writing(10_000_000)
  late.undone()
  late.committed(copyLog)
  await turn()
  expect([pages(), copies]).toEqual([1_000, 1])

  late.writing(10_000_000)
  late.committed(copyLog)
  db.close()
  await turn()
  expect(copies).toBe(1)
})
