import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants as zlib } from 'node:zlib'

/** A file for browsers, compressed with Brotli. Other forms are made from it on request (static-files.ts). */
export interface PackedFile {
  /** Name below `/dashboard/assets/`: `index.html`, `main-1a2b3c.js`. */
  name: string
  br: Uint8Array
}

/** A file as it is. */
export type PlainFile = [name: string, content: Uint8Array]

/** File → PackedFile, compressed in another thread; a release uses the highest level. */
export async function packedFile([name, content]: PlainFile, isForRelease: boolean): Promise<PackedFile> {
  return { name, br: await compress(content, optionsFor(isForRelease)) }
}

/** Files → one byte array. */
export const pack = (files: readonly PackedFile[]): Uint8Array => joined(files.map(({ name, br }) => [name, br]))

/** Output of `pack` → the files, as views of the same bytes. Throws RangeError or SyntaxError for other bytes. */
export const unpack = (bytes: Uint8Array): PackedFile[] => separated(bytes).map(([name, br]) => ({ name, br }))

/** Files → one byte array, compressed as a whole in another thread: half the size of `pack` when the files contain the
 *  same texts, but each can only be read together with the others. A release uses the highest level. */
export function packTogether(files: readonly PlainFile[], isForRelease: boolean): Promise<Uint8Array> {
  return compress(joined(files), optionsFor(isForRelease))
}

/** Output of `packTogether` → the files. Decompresses in another thread. Rejects for other bytes. */
export const unpackTogether = async (bytes: Uint8Array): Promise<PlainFile[]> => separated(await decompress(bytes))

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

const optionsFor = (isForRelease: boolean) => ({
  params: { [zlib.BROTLI_PARAM_QUALITY]: isForRelease ? zlib.BROTLI_MAX_QUALITY : 4 },
})

/** The length of an index (32 bits, big-endian), the index as JSON, then the bytes of each file. */
function joined(files: readonly PlainFile[]): Uint8Array {
  const index = new TextEncoder().encode(JSON.stringify(files.map(([name, { length }]) => [name, length])))
  const head = new Uint8Array(4)
  new DataView(head.buffer).setUint32(0, index.length)
  return Buffer.concat([head, index, ...files.map(([, content]) => content)])
}

function separated(bytes: Uint8Array): PlainFile[] {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const index: [string, number][] = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  let at = 4 + length
  const take = (size: number) => {
    const part = bytes.subarray(at, at + size)
    at += size
    return part
  }
  return index.map(([name, size]) => [name, take(size)])
}
