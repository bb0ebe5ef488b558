import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePrivately } from './private-file.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-private-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the whole text is in the file, which only its owner can read, and no draft remains', async () => {
  const text = 'a line of a secret\n'.repeat(500_000)
  await writePrivately(join(folder, 'secret'), text)
  expect(readFileSync(join(folder, 'secret'), 'utf8') === text).toBe(true)
  expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['secret'])
})

test('a file or draft that others could read becomes private', async () => {
  const path = join(folder, 'open')
  for (const name of [path, `${path}.new`]) {
    writeFileSync(name, 'a much longer earlier text')
    chmodSync(name, 0o644)
  }
  await writePrivately(path, 'new')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  rmSync(path)
})

test('a file in a missing folder is rejected', async () => {
  await expect(writePrivately(join(folder, 'missing', 'x'), 'x')).rejects.toThrow('ENOENT')
})
