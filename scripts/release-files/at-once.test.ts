import { afterAll, expect, test } from 'bun:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from '../../src/storage/sqlite/lock.ts'

const ROOT = join(import.meta.dir, '../..')
const out = mkdtempSync(join(tmpdir(), 'postrider-at-once-'))
afterAll(() => rmSync(out, { recursive: true }))

test('a second release in the same checkout ends at once, and writes nothing', () => {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const lock = lockDataDir(join(ROOT, 'dist/.release'))
  expect(lock).not.toBeNull()
  try {
    const args = ['scripts/release.ts', '--allow-dirty', '--out', out]
    const ended = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
    expect([ended.status, ended.stderr]).toEqual([1, expect.stringContaining('another release is being made')])
    expect(readdirSync(out)).toEqual([])
  } finally {
    lock?.release()
  }
})

test('what pip and a release write into a checkout, git ignores', () => {
  const written = ['dist/clients/python/build/lib', 'dist/clients/python/postrider.egg-info', 'dist/modules-x64.txt']
  const ignored = execFileSync('git', ['check-ignore', ...written], { cwd: ROOT, encoding: 'utf8' })
  expect(ignored.trim().split('\n')).toEqual(written)
})
