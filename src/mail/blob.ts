/** Bytes → one blob: version byte, 4-byte big-endian CRC-32 of all that follows (zstd has no checksum of its own), then the
 *  bytes in zstd. Each kind of content has a version of its own, so that none is read as another. Never throws. */
export function packBlob(version: number, clear: Uint8Array): Uint8Array<ArrayBuffer> {
  const packed = Bun.zstdCompressSync(clear, { level: ZSTD_LEVEL })
  const blob = new Uint8Array(HEAD_BYTES + packed.byteLength)
  blob[0] = version
  new DataView(blob.buffer).setUint32(1, Bun.hash.crc32(packed))
  blob.set(packed, HEAD_BYTES)
  return blob
}

/** Blob → the bytes, in a buffer of their own. Throws on a blob that is cut, damaged or of another version. */
export function unpackBlob(version: number, blob: Uint8Array): Uint8Array<ArrayBuffer> {
  if (blob.byteLength < HEAD_BYTES || blob[0] !== version) throw new Error('stored content has an unknown form')
  const packed = blob.subarray(HEAD_BYTES)
  const checksum = new DataView(blob.buffer, blob.byteOffset, HEAD_BYTES).getUint32(1)
  if (Bun.hash.crc32(packed) !== checksum) throw new Error('stored content is damaged')
  const clear = Bun.zstdDecompressSync(packed)
  return new Uint8Array(clear.buffer as ArrayBuffer, clear.byteOffset, clear.byteLength)
}

const HEAD_BYTES = 5
/** For everything that is stored of mails: a twentieth larger than level 3, and a sixth quicker. */
export const ZSTD_LEVEL = 1
