import { expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { type PlainFile, pack, packedFile, packTogether, unpack, unpackTogether } from './pack.ts'

const TEXT = 'The same text in every file, a little longer than one line. '.repeat(20)
const FILES: PlainFile[] = ['one.html', 'two.md', 'empty.txt'].map((name) => {
  return [name, Buffer.from(name === 'empty.txt' ? '' : `${name}: ${TEXT}`)]
})
const textsOf = (files: readonly PlainFile[]) => files.map(([name, content]) => [name, Buffer.from(content).toString()])

test('files packed together come back with names and contents, and a repeated text takes space once', async () => {
  for (const isForRelease of [false, true]) {
    const bytes = await packTogether(FILES, isForRelease)
    expect(textsOf(await unpackTogether(bytes))).toEqual(textsOf(FILES))
    expect(bytes.length).toBeLessThan(300)
  }
  expect(await unpackTogether(await packTogether([], true))).toEqual([])
})

test('bytes of another kind reject', async () => {
  const bytes = await packTogether(FILES, false)
  for (const other of [Buffer.from('text'), bytes.subarray(0, bytes.length - 1), Buffer.alloc(0)])
    await expect(unpackTogether(other)).rejects.toThrow()
})

test('files packed one by one come back with names and contents, and can be read alone', async () => {
  for (const isForRelease of [false, true]) {
    const packed = await Promise.all(FILES.map((file) => packedFile(file, isForRelease)))
    const back = unpack(pack(packed))
    expect(textsOf(back.map(({ name, br }) => [name, brotliDecompressSync(br)]))).toEqual(textsOf(FILES))
  }
})
