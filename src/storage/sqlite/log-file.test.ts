import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from './driver.ts'
import { readLogState } from './log-file.ts'

/** The files of a process that died after ten commits. */
let folder: string
let database: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-log-'))
  const live = join(folder, 'live.db')
  database = join(folder, 'dead.db')
  const db = connect(live, { busyTimeoutMs: 0 })
  db.exec('create table t (n integer primary key, filling blob) strict')
  for (let n = 1; n <= 10; n++) db.exec(`insert into t values (${n}, randomblob(3000))`)
  for (const end of ['', '-wal', '-shm']) copyFileSync(live + end, database + end)
  db.close()
})
afterEach(() => rmSync(folder, { recursive: true }))

const log = () => `${database}-wal`
const flip = (at: number) => {
  const bytes = readFileSync(log())
  bytes[at]! ^= 1
  writeFileSync(log(), bytes)
}
const kind = () => readLogState(database).kind

test('a log left by a kill is valid, with its index or without', () => {
  expect(readLogState(database)).toEqual({ kind: 'sound', tornBytes: 0 })
  rmSync(`${database}-shm`)
  expect(readLogState(database)).toEqual({ kind: 'sound', tornBytes: 0 })
})

test('committed data that is missing in the log is damage, down to the last commit', () => {
  const { size } = statSync(log())
  flip(size - 10)
  expect(kind()).toBe('damaged')
  flip(size - 10)
  expect(kind()).toBe('sound')
  truncateSync(log(), size - 10)
  expect(kind()).toBe('damaged')
  truncateSync(log(), 0)
  expect(kind()).toBe('damaged')
  rmSync(log())
  expect(kind()).toBe('damaged')
})

test('without an index only the last commit may be torn, as after a power cut', () => {
  rmSync(`${database}-shm`)
  flip(statSync(log()).size - 10)
  expect(readLogState(database)).toMatchObject({ kind: 'sound', tornBytes: expect.any(Number) })
  flip(statSync(log()).size - 10)
  flip(Math.floor(statSync(log()).size / 2))
  expect(kind()).toBe('damaged')
})

test('a missing log is no damage, and a log with a wrong header is', () => {
  rmSync(log())
  rmSync(`${database}-shm`)
  expect(kind()).toBe('none')
  writeFileSync(log(), 'this is no log '.repeat(10))
  expect(kind()).toBe('damaged')
})

test.each([
  ['magic number', 0],
  ['page size', 9],
  ['salt', 18],
  ['checksum', 30],
])('without an index, a header with a changed bit in its %s is damage', (_, at) => {
  rmSync(`${database}-shm`)
  flip(at)
  expect(kind()).toBe('damaged')
})

test('a log that another process writes and begins anew is never damage', async () => {
  const busy = join(folder, 'busy.db')
  const writer = Bun.spawn([process.execPath, '-e', WRITER, join(import.meta.dir, 'driver.ts'), busy], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await writer.stdout.getReader().read()
    const states = Array.from({ length: 1_000 }, () => readLogState(busy))
    expect(states.filter(({ kind }) => kind === 'damaged')).toEqual([])
  } finally {
    writer.kill('SIGKILL')
    await writer.exited
  }
})

/** Begins a new log after every 20 commits. */
const WRITER = `
  const [driver, file] = process.argv.slice(-2)
  const { connect } = await import(driver)
  const db = connect(file, { busyTimeoutMs: 0 })
  db.exec('create table t (n integer primary key, filling blob) strict')
  console.log('ready')
  for (let n = 1; ; n++) {
    db.exec('insert into t values (' + n + ', randomblob(30000))')
    if (n % 20 === 0) db.exec('pragma wal_checkpoint(truncate)')
  }
`
