import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTar, TarDamaged, tarEnd, tarHead, tarPadding } from './tar.ts'

const FILES = [
  { name: 'manifest.json', text: '{}' },
  { name: 'deep/empty.pem', text: '' },
  { name: 'block', text: 'x'.repeat(512) },
  { name: 'long', text: 'äöü'.repeat(1000) },
]

const archive = () =>
  Buffer.concat([
    ...FILES.flatMap(({ name, text }) => {
      const bytes = Buffer.from(text)
      return [tarHead({ name, bytes: bytes.length }, 1_795_262_400), bytes, tarPadding(bytes.length)]
    }),
    tarEnd(),
  ])

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Uint8Array, size: number) {
  const tar = readTar(inPieces(bytes, size))
  const found: { name: string; text: string }[] = []
  for (let head = await tar.next(); head !== null; head = await tar.next()) {
    const parts: Uint8Array[] = []
    for await (const part of tar.body()) parts.push(part)
    found.push({ name: head.name, text: Buffer.concat(parts).toString() })
  }
  return found
}

test.each([1, 100, 512, 100_000])('what was written is read back, in pieces of %d bytes', async (size) => {
  expect(await read(archive(), size)).toEqual(FILES)
})

test('the system’s tar reads our archives, and we read its archives', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-tar-'))
  writeFileSync(join(folder, 'ours.tar'), archive())
  const listed = Bun.spawnSync(['tar', '-tvf', 'ours.tar'], { cwd: folder }).stdout.toString()
  expect(listed.match(/^-rw------- .* 2026-11-2[01] .* deep\/empty\.pem$/m)).not.toBeNull()
  writeFileSync(join(folder, 'one'), 'two')
  expect(Bun.spawnSync(['tar', '--format=ustar', '-cf', 'theirs.tar', 'one'], { cwd: folder }).exitCode).toBe(0)
  expect(await read(readFileSync(join(folder, 'theirs.tar')), 700)).toEqual([{ name: 'one', text: 'two' }])
  rmSync(folder, { recursive: true })
})

test('a file may have more than eight gigabytes', async () => {
  for (const bytes of [8 ** 11 - 1, 8 ** 11, 5e12]) {
    expect(await readTar(inPieces(tarHead({ name: 'postrider.db', bytes }, 0), 512)).next()).toEqual({
      name: 'postrider.db',
      bytes,
    })
  }
})

test('an archive that is truncated anywhere is damaged, and so is one with a changed header byte', async () => {
  const whole = archive()
  for (let bytes = 0; bytes < whole.length; bytes += 256) {
    await expect(read(whole.subarray(0, bytes), 1000)).rejects.toThrow(TarDamaged)
  }
  const changed = Buffer.from(whole)
  changed[0] = 0x4d
  await expect(read(changed, 1000)).rejects.toThrow('checksum of a file header')
})

// threat: hostile-backups
test('a link is refused', async () => {
  const link = tarHead({ name: 'link', bytes: 0 }, 0)
  link[156] = 0x32
  const sum = link.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  link.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  await expect(read(link, 512)).rejects.toThrow('not a regular file')
})
