/** Reads and writes tar archives (POSIX.1-2017, pax, ustar Interchange Format). Supports only regular files with names
 *  of at most 100 bytes; sizes of 8 GiB and more are in base 256, as in GNU tar. */

/** Name and size of a file. */
export interface TarHead {
  /** At most 100 bytes. */
  name: string
  bytes: number
}

/** The input is not a valid archive; `message` describes the fault. */
export class TarDamaged extends Error {}

const BLOCK = 512
const NAME_BYTES = 100
const SIZE_AT = 124
const CHECKSUM_AT = 148
const TYPE_AT = 156
const PREFIX_AT = 345
/** Sizes from here do not fit into eleven octal digits. */
const MOST_OCTAL = 8 ** 11
const END = Buffer.alloc(2 * BLOCK)

/** Header block of a file with mode 600, so that only the user who unpacks it can read it. Throws RangeError if the
 *  name is longer than 100 bytes. */
export function tarHead({ name, bytes }: TarHead, madeAtSeconds: number): Buffer {
  const head = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(name) > NAME_BYTES) throw new RangeError(`the name ${name} is too long for an archive`)
  head.write(name, 0)
  head.write('0000600\0', 100)
  head.write('0000000\0', 108)
  head.write('0000000\0', 116)
  if (bytes < MOST_OCTAL) head.write(`${octal(bytes, 11)}\0`, SIZE_AT)
  else head.writeBigUInt64BE(BigInt(bytes), SIZE_AT + 4)
  if (bytes >= MOST_OCTAL) head[SIZE_AT] = 0x80
  head.write(`${octal(madeAtSeconds, 11)}\0`, 136)
  head.write('0', TYPE_AT)
  head.write('ustar\x0000', 257)
  head.write(`${octal(sumOf(head), 6)}\0 `, CHECKSUM_AT)
  return head
}

/** Zero bytes after a file of this size, up to the next multiple of 512 bytes. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK)
}

/** End of the archive: two blocks of zeros. */
export const tarEnd = (): Buffer => END

export interface TarReader {
  /** Returns the next file, or null at the end of the archive. Read the body of the previous file first. Throws
   *  TarDamaged, also if the archive stops without its end marker. */
  next(): Promise<TarHead | null>
  /** Bytes of the file that `next` returned. Throws TarDamaged if there are fewer than in the header. */
  body(): AsyncGenerator<Uint8Array>
}

/** Bytes of an archive, in chunks of any size → its files in order. Reads no chunk before it is needed. A folder is damage
 *  unless `skipsFolders`. */
export function readTar(chunks: AsyncIterable<Uint8Array>, { skipsFolders = false } = {}): TarReader {
  const source = chunks[Symbol.asyncIterator]()
  let rest: Uint8Array = Buffer.alloc(0)
  let left = 0
  let padding = 0

  /** Up to `most` bytes, at least one. */
  const some = async (most: number): Promise<Uint8Array> => {
    while (rest.length === 0) {
      const { done, value } = await source.next()
      if (done) throw new TarDamaged('the archive is truncated')
      rest = value
    }
    const taken = rest.subarray(0, most)
    rest = rest.subarray(taken.length)
    return taken
  }
  const exactly = async (bytes: number): Promise<Buffer> => {
    const parts: Uint8Array[] = []
    for (let missing = bytes; missing > 0; ) {
      const part = await some(missing)
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  return {
    next: async () => {
      if (left > 0) throw new Error('the previous file was not read')
      await exactly(padding)
      padding = 0
      let head = await exactly(BLOCK)
      while (skipsFolders && isFolder(head)) head = await exactly(BLOCK)
      if (head.every((byte) => byte === 0)) {
        const second = await exactly(BLOCK)
        if (second.some((byte) => byte !== 0)) throw new TarDamaged('the archive has an invalid end marker')
        return null
      }
      const found = parseHead(head)
      left = found.bytes
      padding = tarPadding(left).length
      return found
    },
    async *body() {
      while (left > 0) {
        const part = await some(left)
        left -= part.length
        yield part
      }
    },
  }
}

/** A folder has no bytes. */
const isFolder = (head: Buffer) =>
  head[TYPE_AT] === 0x35 && /^0* *\0?$/.test(head.toString('latin1', SIZE_AT, SIZE_AT + 12))

function parseHead(head: Buffer): TarHead {
  const sum = Number.parseInt(head.toString('latin1', CHECKSUM_AT, CHECKSUM_AT + 6), 8)
  if (sum !== sumOf(head)) throw new TarDamaged('the checksum of a file header does not match')
  const type = head[TYPE_AT]
  if (type !== 0x30 && type !== 0) throw new TarDamaged('the archive contains an entry that is not a regular file')
  // Other programs prepend this prefix to the name, so they would unpack a different file.
  if (head[PREFIX_AT] !== 0) throw new TarDamaged('the archive contains a file with a long path')
  const text = head.toString('utf8', 0, NAME_BYTES)
  const bytes =
    head[SIZE_AT] === 0x80
      ? Number(head.readBigUInt64BE(SIZE_AT + 4))
      : Number.parseInt(head.toString('latin1', SIZE_AT, SIZE_AT + 11), 8)
  if (!Number.isSafeInteger(bytes)) throw new TarDamaged('the size of a file is not a number')
  return { name: text.replace(/\0.*$/s, ''), bytes }
}

/** Sum of all bytes of a header, with blanks in place of the checksum (ustar `chksum`). */
function sumOf(head: Buffer): number {
  return head.reduce((sum, byte, at) => sum + (at >= CHECKSUM_AT && at < CHECKSUM_AT + 8 ? 0x20 : byte), 0)
}

const octal = (value: number, digits: number) => Math.floor(value).toString(8).padStart(digits, '0')
