import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { openArchive, toBackupFailure } from '../../src/cli/backup/archive.ts'
import { SIGNATURE_FILE, signingKeyOf } from '../../src/cli/backup/signature.ts'
import { tarEnd, tarHead, tarPadding } from '../../src/cli/backup/tar.ts'
import { CommandFailure } from '../../src/cli/failure.ts'
import { runs } from './runs.ts'

/** Changed backups: a restore reads what was signed, or reports what is wrong. */

const FILES = [
  { name: 'config.toml', bytes: Buffer.from('hostname = "mail.example.com"\n') },
  { name: 'seal.key', bytes: Buffer.from('a key\n') },
  { name: 'postrider.db', bytes: Buffer.alloc(3_000, 'a database ') },
]

const manifest = Buffer.from(
  JSON.stringify({
    format: 1,
    program: '0.1.0',
    schema: 1,
    made_at: '2026-11-21T12:00:00.000Z',
    instance_id: 'one',
    hostname: 'mail.example.com',
    files: FILES.map(({ name, bytes }) => ({
      name,
      bytes: bytes.length,
      sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'),
    })),
  }),
)

const folder = mkdtempSync(join(tmpdir(), 'postrider-fuzz-'))
const signingKey = signingKeyOf(folder)
rmSync(folder, { recursive: true })
const trust = { publicKeys: [signingKey.publicKey], acceptsAll: false }

const whole = Buffer.concat([
  ...[
    { name: 'manifest.json', bytes: manifest },
    { name: SIGNATURE_FILE, bytes: signingKey.sign(manifest) },
    ...FILES,
  ].flatMap(({ name, bytes }) => [tarHead({ name, bytes: bytes.length }, 0), bytes, tarPadding(bytes.length)]),
  tarEnd(),
])

/** What a restore would accept from it; null when it refuses with a message. Throws any other error. */
async function taken(bytes: Buffer): Promise<Map<string, Buffer> | null> {
  try {
    const archive = await openArchive(Readable.from([bytes], { objectMode: false }), trust)
    const files = new Map(archive.small.map((file) => [file.name, file.bytes]))
    const parts: Uint8Array[] = []
    for await (const part of archive.database()) parts.push(part)
    return files.set('postrider.db', Buffer.concat(parts))
  } catch (thrown) {
    const failure = toBackupFailure(thrown)
    if (failure instanceof CommandFailure) return null
    throw thrown
  }
}

test('a complete backup is accepted', async () => {
  const files = await taken(zstdCompressSync(whole))
  expect([...files!]).toEqual(FILES.map(({ name, bytes }) => [name, bytes]))
})

const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })

test('a backup with changed bytes is refused, or what is accepted is what was put into it', async () => {
  const run = fc.asyncProperty(changes, fc.nat(whole.length), async (changed, cut) => {
    const bytes = Buffer.from(whole)
    for (const [at, byte] of changed) bytes[at] = byte
    const files = await taken(zstdCompressSync(cut % 4 === 0 ? bytes.subarray(0, cut) : bytes))
    if (files !== null) expect([...files]).toEqual(FILES.map(({ name, bytes }) => [name, bytes]))
  })
  await fc.assert(run, runs({ target: 'backups', property: 'changed-files' }, 300, 1))
})

test('a backup with changed compressed bytes is refused too, or gives what was put into it', async () => {
  const packed = zstdCompressSync(whole)
  const run = fc.asyncProperty(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
    const bytes = Buffer.from(packed)
    bytes[at]! ^= by
    const files = await taken(bytes)
    if (files !== null) expect([...files]).toEqual(FILES.map(({ name, bytes }) => [name, bytes]))
  })
  await fc.assert(run, runs({ target: 'backups', property: 'changed-bytes' }, 300, 2))
})
