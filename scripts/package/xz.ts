import { crc32 } from 'node:zlib'
import { xzStream } from './run.ts'

/** Compressed bytes that can stand in any .xz file. */
export interface XzBlock {
  /** With the padding to a multiple of four bytes. */
  bytes: Uint8Array
  unpaddedBytes: number
  contentBytes: number
}

/** The first twelve bytes of a stream whose check is CRC64. */
const HEAD = Buffer.from('fd377a585a000004e6d6b446', 'hex')
const FLAGS = HEAD.subarray(6, 8)
const HEAD_BYTES = 12
const FOOT_BYTES = 12
const MAGIC_END = 'YZ'

/** Content and xz's options → one block. The same content with the same options gives the same block, so that the program,
 *  which takes a minute and a half to compress, is compressed once for several packages. */
export async function xzBlock(content: Uint8Array, options: readonly string[]): Promise<XzBlock> {
  const stream = await xzStream(content, options)
  const foot = stream.subarray(stream.length - FOOT_BYTES)
  if (!stream.subarray(0, HEAD_BYTES).equals(HEAD) || foot.toString('latin1', 10) !== MAGIC_END)
    throw new Error('xz wrote another format than expected')
  const indexBytes = (foot.readUInt32LE(4) + 1) * 4
  const index = stream.subarray(stream.length - FOOT_BYTES - indexBytes, stream.length - FOOT_BYTES)
  const [records, unpaddedBytes, contentBytes] = numbersIn(index.subarray(1), 3)
  if (records !== 1 || contentBytes !== content.length) throw new Error('xz wrote another number of blocks than one')
  const bytes = stream.subarray(HEAD_BYTES, stream.length - FOOT_BYTES - indexBytes)
  return { bytes, unpaddedBytes: unpaddedBytes!, contentBytes }
}

/** Blocks → an .xz file with the contents one after another: one stream, which every decoder reads. Source: The .xz File
 *  Format 1.2.1, sections 2.1 and 4. */
export function xzFile(blocks: readonly XzBlock[]): Buffer {
  const numbers = [blocks.length, ...blocks.flatMap((block) => [block.unpaddedBytes, block.contentBytes])]
  const list = Buffer.concat([Buffer.of(0), ...numbers.map(encoded)])
  const padded = Buffer.concat([list, Buffer.alloc((4 - (list.length % 4)) % 4)])
  const index = Buffer.concat([padded, checksum(padded)])
  const end = Buffer.alloc(6)
  end.writeUInt32LE(index.length / 4 - 1)
  FLAGS.copy(end, 4)
  return Buffer.concat([HEAD, ...blocks.map(({ bytes }) => bytes), index, checksum(end), end, Buffer.from(MAGIC_END)])
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(bytes))
  return sum
}

/** Seven bits in each byte, the lowest first; the eighth bit says that more follow. */
function encoded(number: number): Buffer {
  const bytes: number[] = []
  let rest = number
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}

function numbersIn(bytes: Uint8Array, count: number): number[] {
  const found: number[] = []
  let number = 0
  let unit = 1
  for (const byte of bytes) {
    number += (byte & 0x7f) * unit
    unit *= 0x80
    if (byte & 0x80) continue
    found.push(number)
    if (found.length === count) break
    number = 0
    unit = 1
  }
  return found
}
