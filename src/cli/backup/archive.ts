import { createReadStream } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { errorCode, messageOf } from '../../os/thrown.ts'
import { CommandFailure } from '../failure.ts'
import type { SmallFile } from './contents.ts'
import {
  FORMAT,
  lastOf,
  MANIFEST_FILE,
  type Manifest,
  MOST_SMALL_BYTES,
  manifestFault,
  parseManifest,
} from './manifest.ts'
import { SIGNATURE_BYTES, SIGNATURE_FILE, type SigningKey } from './signature.ts'
import { readTar, TarDamaged, type TarReader, tarEnd, tarHead, tarPadding } from './tar.ts'
import { requireSigned, type Trust } from './trust.ts'

/** A backup is a tar archive, compressed with zstd (RFC 8878); `tar --zstd` can read it too. The manifest is its first
 *  file, the signature of the manifest its second, the database its last. */

const LEVEL = 3
const CHUNK_BYTES = 1024 * 1024
const PACED_BYTES = 4 * 1024 * 1024

/** Size and SHA-256 (hex) of a file. */
export interface HashedFile {
  bytes: number
  sha256: string
}

/** What a backup consists of. */
interface Content {
  manifest: Manifest
  signingKey: SigningKey
  small: readonly SmallFile[]
  /** Path of the database, or of what takes its place. */
  database: string
}

/** Writes manifest, signature, small files and database to a stream, and calls `yieldDisk` every 4 MiB of the database.
 *  Rejects with the error of reading or writing. */
export async function writeArchive(to: Writable, content: Content, yieldDisk: () => void): Promise<void> {
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  await pipeline(Readable.from(tarOf(content, yieldDisk), { objectMode: false }), compress, to)
}

async function* tarOf({ manifest, signingKey, small, database }: Content, yieldDisk: () => void) {
  const at = Date.parse(manifest.made_at) / 1000
  const manifestFile = { name: MANIFEST_FILE, bytes: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) }
  const signature = { name: SIGNATURE_FILE, bytes: signingKey.sign(manifestFile.bytes) }
  for (const { name, bytes } of [manifestFile, signature, ...small]) {
    yield tarHead({ name, bytes: bytes.length }, at)
    yield bytes
    yield tarPadding(bytes.length)
  }
  const { bytes } = databaseOf(manifest)
  yield tarHead({ name: lastOf(manifest), bytes }, at)
  let unpaced = 0
  for await (const chunk of createReadStream(database, { highWaterMark: CHUNK_BYTES })) {
    yield chunk
    unpaced += chunk.length
    if (unpaced < PACED_BYTES) continue
    unpaced = 0
    yieldDisk()
  }
  yield tarPadding(bytes)
  yield tarEnd()
}

/** Size and hash of a file given in chunks. Rejects with the error of the chunks. */
export async function hashOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<HashedFile> {
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** An opened backup. `database` can be called only once. */
export interface Archive {
  manifest: Manifest
  /** Whether a trusted key signed it. */
  isAuthenticated: boolean
  small: SmallFile[]
  /** The bytes of the database. Throws CommandFailure at the end if they do not match the manifest or if
   *  more files follow. */
  database(): AsyncGenerator<Uint8Array>
}

/** Reads a backup up to the database. Checks who signed the manifest, and rejects files and bytes that the manifest does
 *  not list. Throws CommandFailure if the input is not a backup, is from a newer version or not signed with a trusted key,
 *  and for files that do not match the manifest. Other damage throws TarDamaged or a zstd error; see toBackupFailure. */
export async function openArchive(bytes: Readable, trust: Trust): Promise<Archive> {
  const tar = readTar(decompressed(bytes))
  const first = await tar.next().catch(noBackup)
  if (first?.name !== MANIFEST_FILE || first.bytes > MOST_SMALL_BYTES) return noBackup()
  const text = await wholeOf(tar.body())
  const manifest = parseManifest(text.toString())
  if (manifest === null) throw new CommandFailure(foreignManifest(text.toString()))
  const isAuthenticated = requireSigned(text, await signatureIn(tar), trust)
  const fault = manifestFault(manifest)
  if (fault !== null) throw damaged(fault)

  const small: SmallFile[] = []
  for (const listed of manifest.files.slice(0, -1)) {
    await requireNext(listed)
    const found = await wholeOf(tar.body())
    requireSame(listed, await hashOf([found]))
    small.push({ name: listed.name, bytes: found })
  }

  async function requireNext(listed: { name: string; bytes: number }): Promise<void> {
    const head = await tar.next()
    if (head?.name === listed.name && head.bytes === listed.bytes) return
    throw damaged(`expected ${listed.name} of ${listed.bytes} bytes, found ${head?.name ?? 'end of file'}`)
  }

  return {
    manifest,
    isAuthenticated,
    small,
    async *database() {
      const listed = databaseOf(manifest)
      await requireNext(listed)
      const hash = new Bun.CryptoHasher('sha256')
      for await (const chunk of tar.body()) {
        hash.update(chunk)
        yield chunk
      }
      requireSame(listed, { bytes: listed.bytes, sha256: hash.digest('hex') })
      if ((await tar.next()) !== null) throw damaged('it contains more files than its manifest lists')
    },
  }
}

async function signatureIn(tar: TarReader): Promise<Buffer> {
  const head = await tar.next()
  if (head?.name === SIGNATURE_FILE && head.bytes === SIGNATURE_BYTES) return wholeOf(tar.body())
  throw damaged(`expected its signature, found ${head?.name ?? 'end of file'}`)
}

function databaseOf({ files }: Manifest): Manifest['files'][number] {
  const last = files.at(-1)
  if (last === undefined) throw damaged('it lists no files')
  return last
}

/** Error while reading a backup → CommandFailure if the backup is damaged; otherwise the same error. */
export function toBackupFailure(thrown: unknown): unknown {
  if (thrown instanceof TarDamaged) return damaged(thrown.message)
  const code = errorCode(thrown)
  return code?.startsWith('ZSTD_') ? damaged(messageOf(thrown)) : thrown
}

async function* decompressed(bytes: Readable): AsyncGenerator<Uint8Array> {
  const decompress = createZstdDecompress()
  const fed = pipeline(bytes, decompress).catch(() => {}) // the reader reports the error
  yield* decompress
  await fed
}

async function wholeOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function requireSame(listed: { name: string } & HashedFile, found: HashedFile): void {
  if (listed.bytes !== found.bytes || listed.sha256 !== found.sha256) {
    throw damaged(`the checksum of ${listed.name} does not match`)
  }
}

function foreignManifest(text: string): string {
  try {
    const { format } = JSON.parse(text)
    if (typeof format === 'number' && format > FORMAT) {
      return `the backup has format ${format}, but this version supports only format ${FORMAT}. Use the Postrider version that made it, or a newer one.`
    }
  } catch {}
  return 'the backup is damaged: its manifest is unreadable'
}

function noBackup(): never {
  throw new CommandFailure('not a Postrider backup, or its first bytes are damaged')
}

const damaged = (what: string) => new CommandFailure(`the backup is damaged: ${what}`)
