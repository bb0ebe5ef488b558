import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { clearBytesOf, kindOfBlob, packBlob, packBlobBeside, unpackBlob } from './blob.ts'

test('a blob states its unpacked size for any size and content', async () => {
  for (const size of [0, 1, 255, 256, 257, 1_000, 65_791, 65_792, 70_000, 131_073, 3_000_000]) {
    for (const clear of [Buffer.alloc(size, 'a'), randomBytes(size)]) {
      expect([size, clearBytesOf(packBlob(3, clear))]).toEqual([size, size])
      expect(clearBytesOf(await packBlobBeside(3, new Uint8Array(clear)))).toBe(size)
    }
  }
})

// threat: reader-lies
test('a blob that is truncated, has several frames or exceeds its stated size is rejected', () => {
  const small = Bun.zstdCompressSync(Buffer.from('small'))
  const large = Bun.zstdCompressSync(Buffer.alloc(10_000_000))
  const blobOf = (packed: Uint8Array) => {
    const blob = new Uint8Array(Buffer.concat([Buffer.alloc(5), packed]))
    blob[0] = 3
    new DataView(blob.buffer).setUint32(1, Bun.hash.crc32(packed))
    return blob
  }
  expect(clearBytesOf(blobOf(small))).toBe(5)
  expect(clearBytesOf(blobOf(Buffer.concat([small, large])))).toBeNull()
  expect(clearBytesOf(blobOf(small.subarray(0, -1)))).toBeNull()
  for (let length = 0; length < 20; length++) clearBytesOf(blobOf(large).subarray(0, length))
  for (let turn = 0; turn < 2_000; turn++) clearBytesOf(blobOf(Buffer.concat([large.subarray(0, 4), randomBytes(30)])))
  const lying = Buffer.from(large)
  lying.writeUInt32LE(100_000, 6) // the size in its header
  expect(clearBytesOf(blobOf(lying))).toBe(100_000)
  expect(() => unpackBlob(3, blobOf(lying))).toThrow()
})

test('the first byte of a blob gives its kind', () => {
  expect([1, 2, 3, 4].map((version) => kindOfBlob(packBlob(version, Buffer.from('x'))))).toEqual([
    'content',
    'mime',
    'raw',
    'parsed',
  ])
  expect(kindOfBlob(new Uint8Array([9]))).toBeNull()
  expect(kindOfBlob(new Uint8Array())).toBeNull()
})
