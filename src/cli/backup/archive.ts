import { createReadStream, type WriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { CommandFailure } from '../failure.ts'
import type { SmallFile } from './contents.ts'
import {
  DATABASE,
  FORMAT,
  MANIFEST_FILE,
  type Manifest,
  MOST_SMALL_BYTES,
  manifestFault,
  parseManifest,
} from './manifest.ts'
import { readTar, TarDamaged, tarEnd, tarHead, tarPadding } from './tar.ts'

/** A backup as one file: a tar archive in zstd (RFC 8878), so that `tar --zstd` reads it where this program is not. The
 *  manifest comes first, the database last. */

const LEVEL = 3
const CHUNK_BYTES = 1024 * 1024
const PACED_BYTES = 4 * 1024 * 1024

export interface HashedFile {
  bytes: number
  sha256: string
}

/** Writes manifest, small files and database; `pace` is called every few megabytes. Rejects with what writing rejects with, and when the database is not the one
 *  that the manifest tells of. */
export async function writeArchive(
  to: WriteStream,
  content: { manifest: Manifest; small: readonly SmallFile[]; database: string },
  pace: () => void,
): Promise<void> {
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  await pipeline(Readable.from(tarOf(content, pace), { objectMode: false }), compress, to)
}

async function* tarOf({ manifest, small, database }: Parameters<typeof writeArchive>[1], pace: () => void) {
  const at = Date.parse(manifest.made_at) / 1000
  const told = { name: MANIFEST_FILE, bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) }
  for (const { name, bytes } of [told, ...small]) {
    yield tarHead({ name, bytes: bytes.length }, at)
    yield bytes
    yield tarPadding(bytes.length)
  }
  const { bytes } = manifest.files.at(-1)!
  yield tarHead({ name: DATABASE, bytes }, at)
  let unpaced = 0
  for await (const chunk of createReadStream(database, { highWaterMark: CHUNK_BYTES })) {
    yield chunk
    unpaced += chunk.length
    if (unpaced < PACED_BYTES) continue
    unpaced = 0
    pace()
  }
  yield tarPadding(bytes)
  yield tarEnd()
}

/** Bytes of a file, in pieces → how many, and their hash. */
export async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<HashedFile> {
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** A backup that was opened: everything but the database, which can be read once. */
export interface Archive {
  manifest: Manifest
  small: SmallFile[]
  /** Its bytes. Throws at the end when they are not those that the manifest tells of, or something follows. */
  database(): AsyncGenerator<Uint8Array>
}

/** The bytes of a backup → what is in it, as far as the database. Nothing is believed that the manifest does not tell of, nor
 *  more bytes of it. Throws CommandFailure: it is damaged, cut off, or no backup. */
export async function openArchive(bytes: Readable): Promise<Archive> {
  const tar = readTar(decompressed(bytes))
  const first = await tar.next().catch(noBackup)
  if (first?.name !== MANIFEST_FILE || first.bytes > MOST_SMALL_BYTES) return noBackup()
  const text = await wholeOf(tar.body())
  const manifest = parseManifest(text.toString())
  if (manifest === null) throw new CommandFailure(foreignManifest(text.toString()))
  const fault = manifestFault(manifest)
  if (fault !== null) throw damaged(fault)

  const small: SmallFile[] = []
  for (const told of manifest.files.slice(0, -1)) {
    await requireNext(told)
    const found = await wholeOf(tar.body())
    requireSame(told, await hashOf(piece(found)))
    small.push({ name: told.name, bytes: found })
  }

  async function requireNext(told: { name: string; bytes: number }): Promise<void> {
    const head = await tar.next()
    if (head?.name === told.name && head.bytes === told.bytes) return
    throw damaged(`expected ${told.name} of ${told.bytes} bytes, found ${head?.name ?? 'the end'}`)
  }

  return {
    manifest,
    small,
    async *database() {
      const told = manifest.files.at(-1)!
      await requireNext(told)
      const hash = new Bun.CryptoHasher('sha256')
      for await (const chunk of tar.body()) {
        hash.update(chunk)
        yield chunk
      }
      requireSame(told, { bytes: told.bytes, sha256: hash.digest('hex') })
      if ((await tar.next()) !== null) throw damaged('more files follow than it tells of')
    },
  }
}

/** What is thrown while a backup is read → what to say of it. */
export function toBackupFailure(thrown: unknown): unknown {
  if (thrown instanceof TarDamaged) return damaged(thrown.message)
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  return code.startsWith('ZSTD_') ? damaged((thrown as Error).message) : thrown
}

async function* decompressed(bytes: Readable): AsyncGenerator<Uint8Array> {
  const decompress = createZstdDecompress()
  const fed = pipeline(bytes, decompress).catch(() => {}) // the other end tells
  yield* decompress
  await fed
}

async function* piece(bytes: Uint8Array) {
  yield bytes
}

async function wholeOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function requireSame(told: { name: string } & HashedFile, found: HashedFile): void {
  if (told.bytes !== found.bytes || told.sha256 !== found.sha256) {
    throw damaged(`${told.name} is not what was put into it`)
  }
}

function foreignManifest(text: string): string {
  try {
    const { format } = JSON.parse(text)
    if (typeof format === 'number' && format > FORMAT) {
      return `the backup has format ${format}, and this program knows ${FORMAT}: use the Postrider that made it, or a newer one`
    }
  } catch {}
  return 'the backup is damaged: its manifest cannot be read'
}

function noBackup(): never {
  throw new CommandFailure('this is no backup of Postrider, or its beginning is damaged')
}

const damaged = (what: string) => new CommandFailure(`the backup is damaged: ${what}`)
