import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeOthers, writeFiles } from './write.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-clients-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a file with the same text keeps its time, so that no program is built again', () => {
  const [same, other] = [join(folder, 'php/same.php'), join(folder, 'php/other.php')]
  expect(writeFiles(folder, { 'php/same.php': 'a', 'php/other.php': 'b' })).toEqual([same, other])
  for (const file of [same, other]) utimesSync(file, 1, 1)

  expect(writeFiles(folder, { 'php/same.php': 'a', 'php/other.php': 'c' })).toEqual([other])
  expect(statSync(same).mtimeMs).toBe(1_000)
  expect(readFileSync(other, 'utf8')).toBe('c')
})

test('a copy of the checkout made of hard links keeps its text', () => {
  writeFiles(folder, { 'types.ts': 'old' })
  linkSync(join(folder, 'types.ts'), join(folder, 'linked.ts'))
  writeFiles(folder, { 'types.ts': 'new' })
  expect(readFileSync(join(folder, 'linked.ts'), 'utf8')).toBe('old')
})

test('a file of an earlier version does not become part of a package', () => {
  writeFiles(folder, { 'python/postrider/api.py': '', 'python/postrider/gone.py': '' })
  removeOthers(folder, { 'python/postrider/api.py': '' })
  expect(existsSync(join(folder, 'python/postrider/api.py'))).toBe(true)
  expect(existsSync(join(folder, 'python/postrider/gone.py'))).toBe(false)
})
