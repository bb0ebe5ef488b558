/** A finished mail, as its author wrote it → one blob that stands where packContent's stands: version byte, 4-byte
 *  big-endian CRC-32 of all that follows, then the mail in zstd. Any bytes are a mail here. Never throws. */
export function packMime(mime: Uint8Array): Uint8Array<ArrayBuffer> {
  const packed = Bun.zstdCompressSync(mime, { level: ZSTD_LEVEL })
  const blob = Buffer.alloc(HEAD_BYTES + packed.byteLength)
  blob.set(packed, HEAD_BYTES)
  blob[0] = VERSION
  blob.writeUInt32BE(Bun.hash.crc32(packed), 1)
  return blob
}

/** Is this blob packMime's? False for packContent's, and for nothing at all. */
export function isMime(blob: Uint8Array): boolean {
  return blob[0] === VERSION
}

/** Blob → the mail, byte for byte. Throws on a blob that is cut, damaged or of another version. */
export function unpackMime(blob: Uint8Array): Uint8Array<ArrayBuffer> {
  if (blob.byteLength < HEAD_BYTES || !isMime(blob)) throw new Error('stored content has an unknown form')
  const packed = blob.subarray(HEAD_BYTES)
  const crc = new DataView(blob.buffer, blob.byteOffset, HEAD_BYTES).getUint32(1)
  if (crc !== Bun.hash.crc32(packed)) throw new Error('stored content is damaged')
  const mime = Bun.zstdDecompressSync(packed)
  return new Uint8Array(mime.buffer as ArrayBuffer, mime.byteOffset, mime.byteLength)
}

/** content.ts has 1. */
const VERSION = 2
const HEAD_BYTES = 5
/** As content.ts: base64 shrinks by a quarter at any level. */
const ZSTD_LEVEL = 1
