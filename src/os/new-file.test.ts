import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, fstatSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { writeNewFile } from './new-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-new-file-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a file is there before its stream has begun, gets its bytes and is closed', async () => {
  const file = join(folder, 'a')
  const stream = writeNewFile(file, 0o600, 'wx')
  expect(existsSync(file)).toBe(true)
  const { fd } = stream as unknown as { fd: number }
  await pipeline([Buffer.from('some '), Buffer.from('bytes')], stream)
  expect(readFileSync(file, 'utf8')).toBe('some bytes')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(() => fstatSync(fd)).toThrow('EBADF')
  expect(() => writeNewFile(file, 0o600, 'wx')).toThrow('EEXIST')
})

test('after a source that fails at once, the folder can be removed and stays away', async () => {
  // biome-ignore lint/correctness/useYield: it fails before
  async function* failing(): AsyncGenerator<Uint8Array> {
    throw new Error('damaged')
  }
  const stream = writeNewFile(join(folder, 'a'), 0o600)
  await expect(pipeline(failing(), stream)).rejects.toThrow('damaged')
  rmSync(folder, { recursive: true })
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve))
  expect(existsSync(folder)).toBe(false)
})
