import { brotliCompressSync, constants as zlib } from 'node:zlib'

/** A file for browsers, compressed with Brotli. Other forms are made from it on request (static-files.ts). */
export interface PackedFile {
  /** Name below `/dashboard/assets/`: `index.html`, `main-1a2b3c.js`. */
  name: string
  br: Uint8Array
}

/** Content → PackedFile; a release uses the highest level. */
export function packedFile(name: string, content: Uint8Array, isForRelease: boolean): PackedFile {
  const quality = isForRelease ? zlib.BROTLI_MAX_QUALITY : 4
  return { name, br: new Uint8Array(brotliCompressSync(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } })) }
}

/** Files → one byte array: the length of an index (32 bits, big-endian), the index as JSON, then the
 *  bytes of each file. */
export function pack(files: readonly PackedFile[]): Uint8Array {
  const index = new TextEncoder().encode(JSON.stringify(files.map(({ name, br }) => [name, br.length])))
  const head = new Uint8Array(4)
  new DataView(head.buffer).setUint32(0, index.length)
  return Buffer.concat([head, index, ...files.map(({ br }) => br)])
}

/** Output of `pack` → the files, as views of the same bytes. Throws RangeError or SyntaxError for other bytes. */
export function unpack(bytes: Uint8Array): PackedFile[] {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const index: [string, number][] = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  let at = 4 + length
  const take = (size: number) => {
    const part = bytes.subarray(at, at + size)
    at += size
    return part
  }
  return index.map(([name, size]) => ({ name, br: take(size) }))
}
