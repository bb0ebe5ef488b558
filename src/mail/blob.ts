/** Bytes → one blob: version byte, 4-byte big-endian CRC-32 of the rest (zstd has no checksum of its own), then the
 *  bytes in zstd. Each kind of content has its own version, so that none is read as another. Never throws. */
export function packBlob(version: number, clear: Uint8Array): Uint8Array<ArrayBuffer> {
  return blobOf(version, Bun.zstdCompressSync(clear, { level: ZSTD_LEVEL }))
}

/** Like packBlob, but packs off the thread: for content that may be large. */
export async function packBlobBeside(
  version: number,
  clear: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  return blobOf(version, await Bun.zstdCompress(clear, { level: ZSTD_LEVEL }))
}

function blobOf(version: number, packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const blob = new Uint8Array(HEAD_BYTES + packed.byteLength)
  blob[0] = version
  new DataView(blob.buffer).setUint32(1, Bun.hash.crc32(packed))
  blob.set(packed, HEAD_BYTES)
  return blob
}

/** Blob → the bytes, in their own buffer. Throws on a blob that is truncated, damaged or of another version. */
export function unpackBlob(version: number, blob: Uint8Array): Uint8Array<ArrayBuffer> {
  return ownBytes(Bun.zstdDecompressSync(packedIn(version, blob)))
}

/** Like unpackBlob, but unpacks off the thread: for content that may be large. Rejects where unpackBlob throws. */
export async function unpackBlobBeside(version: number, blob: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return ownBytes(await Bun.zstdDecompress(packedIn(version, blob)))
}

function packedIn(version: number, blob: Uint8Array): Uint8Array<ArrayBuffer> {
  if (blob.byteLength < HEAD_BYTES || blob[0] !== version) throw new Error('stored content has an unknown format')
  const packed = blob.subarray(HEAD_BYTES)
  const checksum = new DataView(blob.buffer, blob.byteOffset, HEAD_BYTES).getUint32(1)
  if (Bun.hash.crc32(packed) !== checksum) throw new Error('stored content is damaged')
  return packed as Uint8Array<ArrayBuffer>
}

function ownBytes(clear: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(clear.buffer as ArrayBuffer, clear.byteOffset, clear.byteLength)
}

/** The content type by the first byte of a blob. content.ts packs with 1. */
export const BLOB_VERSIONS = { content: 1, mime: 2, raw: 3, parsed: 4 } as const
export type BlobKind = keyof typeof BLOB_VERSIONS
const BLOB_KINDS = ['content', 'mime', 'raw', 'parsed'] as const satisfies readonly BlobKind[]

/** Blob → its kind; null if it is not ours. */
export function kindOfBlob(blob: Uint8Array): BlobKind | null {
  return BLOB_KINDS.find((kind) => BLOB_VERSIONS[kind] === blob[0]) ?? null
}

/** Blob → its unpacked size, without unpacking; null if it does not state the size or is not the single frame that
 *  packBlob makes. zstd refuses a frame that holds more than its header says, but unpacks any number of consecutive
 *  frames. Linear in the number of blocks; more than one block per kilobyte is not ours. RFC 8878 §3.1.1 */
export function clearBytesOf(blob: Uint8Array): number | null {
  if (blob.byteLength < HEAD_BYTES + SHORTEST_FRAME) return null
  const frame = new DataView(blob.buffer, blob.byteOffset + HEAD_BYTES, blob.byteLength - HEAD_BYTES)
  if (frame.getUint32(0, true) !== ZSTD_MAGIC) return null
  const descriptor = frame.getUint8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeFlag = descriptor >> 6
  if (sizeFlag === 0 && !isSingleSegment) return null
  const dictionaryBytes = (1 << (descriptor & 3)) >> 1 // 0, 1, 2, 4
  const sizeAt = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes
  const sizeBytes = 1 << sizeFlag
  if (sizeAt + sizeBytes > frame.byteLength) return null
  const clear =
    sizeFlag === 0
      ? frame.getUint8(sizeAt)
      : sizeFlag === 1
        ? frame.getUint16(sizeAt, true) + 256
        : sizeFlag === 2
          ? frame.getUint32(sizeAt, true)
          : Number(frame.getBigUint64(sizeAt, true))
  const checksumBytes = (descriptor & 4) === 0 ? 0 : 4
  return blocksEnd(frame, sizeAt + sizeBytes, clear / 1024 + 2) + checksumBytes === frame.byteLength ? clear : null
}

/** Offset behind the last block; NaN if it is not among the first `most`. RFC 8878 §3.1.1.2 */
function blocksEnd(frame: DataView, from: number, most: number): number {
  for (let at = from, count = 0; at + 3 <= frame.byteLength && count < most; count++) {
    const head = frame.getUint16(at, true) | (frame.getUint8(at + 2) << 16)
    const isRepeated = ((head >> 1) & 3) === 1 // one byte, repeated
    at += 3 + (isRepeated ? 1 : head >> 3)
    if ((head & 1) !== 0) return at
  }
  return Number.NaN
}

const ZSTD_MAGIC = 0xfd2fb528
/** Magic, descriptor, size, one block. */
const SHORTEST_FRAME = 9
const HEAD_BYTES = 5
/** For all stored mail: 5 % larger than level 3 and a sixth faster. */
export const ZSTD_LEVEL = 1
