import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOCK_FILE, lockDataDir } from '../../src/storage/sqlite/lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a data directory has one server at a time', () => {
  const lock = lockDataDir(folder)
  expect(lock).not.toBeNull()
  expect(lockDataDir(folder)).toBeNull()
  lock!.release()
  const next = lockDataDir(folder)
  expect(next).not.toBeNull()
  next!.release()
})

test('a missing data directory is created for its owner only', () => {
  const dataDir = join(folder, 'a/b')
  lockDataDir(dataDir)!.release()
  expect([dataDir, join(folder, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700])
})

test('a lock file that is no database is an error, and a refused lock leaves no descriptor open', async () => {
  const lock = lockDataDir(folder)
  const openFiles = async () => (await Array.fromAsync(new Bun.Glob('*').scan('/proc/self/fd'))).length
  const before = await openFiles()
  for (let n = 0; n < 20; n++) lockDataDir(folder)
  expect(await openFiles()).toBe(before)
  lock!.release()
  writeFileSync(join(folder, LOCK_FILE), 'no database, but a text that is long enough for its header'.repeat(20))
  expect(() => lockDataDir(folder)).toThrow(/not a database/)
})
