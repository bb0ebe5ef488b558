import { expect, test } from 'bun:test'
import { readAr, writeAr } from './ar.ts'
import { xzBlock, xzFile } from './xz.ts'

const QUICK = ['-T1', '-0']

test('xz reads blocks of different options as one file with the contents one after another', async () => {
  const contents = ['a', 'b'.repeat(100_000), '', 'äö'.repeat(70)].map((text) => Buffer.from(text))
  for (const some of [contents.slice(0, 1), contents.filter(({ length }) => length > 0)]) {
    const blocks = await Promise.all(
      some.map((content, at) => xzBlock(content, at === 1 ? ['--x86', ...QUICK] : QUICK)),
    )
    const file = xzFile(blocks)
    const read = Bun.spawnSync(['xz', '-dc'], { stdin: file })
    expect([read.stderr.toString(), read.stdout.toString()]).toEqual(['', Buffer.concat(some).toString()])
    // One stream, because dpkg reads no second one.
    const again = Buffer.from(file.subarray(0, 6))
    expect(file.indexOf(again)).toBe(file.lastIndexOf(again))
  }
})

test('the same content with the same options is the same block', async () => {
  const content = Buffer.from('content '.repeat(5000))
  expect(await xzBlock(content, QUICK)).toEqual(await xzBlock(content, QUICK))
})

test('options that xz does not have are an error with its words', async () => {
  await expect(xzBlock(Buffer.from('a'), ['--no-such-option'])).rejects.toThrow('no-such-option')
})

test('an archive of the format ar is read as it was written, and a damaged one is an error', () => {
  const members = ['debian-binary', 'control.tar.xz'].map((name, at) => ({
    name,
    content: Buffer.from('x'.repeat(at + 1)),
  }))
  const archive = writeAr(members, 1_795_660_000)
  expect(readAr(archive).map(({ name, content }) => [name, Buffer.from(content).toString()])).toEqual([
    ['debian-binary', 'x'],
    ['control.tar.xz', 'xx'],
  ])
  expect(() => readAr(archive.subarray(1))).toThrow('not an archive')
  expect(() => readAr(Buffer.concat([archive, Buffer.from('rest')]))).toThrow('damaged')
})
