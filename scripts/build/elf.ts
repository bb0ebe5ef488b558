/** The headers of an executable: System V ABI, chapters 4 and 5; 64 bits, little-endian. Functions throw for headers of another size
 *  and for parts in another order than those of Bun's linker. */

export const OTHER = 'the executable does not have the shape that scripts/build expects'
export const PT_LOAD = 1
const PROGRAM_HEADER_BYTES = 56
const SECTION_HEADER_BYTES = 64

const numberAt = (file: Buffer, at: number) => Number(file.readBigUInt64LE(at))
export const writeNumber = (file: Buffer, at: number, value: number) => file.writeBigUInt64LE(BigInt(value), at)

/** The segments; `at` is where each has its header. */
export function segmentsOf(file: Buffer) {
  const start = numberAt(file, 32)
  if (file.readUInt16LE(54) !== PROGRAM_HEADER_BYTES) throw new Error(OTHER)
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const at = start + index * PROGRAM_HEADER_BYTES
    return {
      at,
      type: file.readUInt32LE(at),
      flags: file.readUInt32LE(at + 4),
      offset: numberAt(file, at + 8),
      address: numberAt(file, at + 16),
      fileSize: numberAt(file, at + 32),
      align: numberAt(file, at + 48),
    }
  })
}

/** A library → its segments without what follows, such as symbols for debuggers. The loader reads no sections. */
export function segmentsOnly(library: Buffer): Buffer {
  const end = Math.max(...segmentsOf(library).map(({ offset, fileSize }) => offset + fileSize))
  const kept = Buffer.from(library.subarray(0, end))
  writeNumber(kept, 40, 0)
  kept.fill(0, 60, 64)
  return kept
}

/** The sections; `at` is where each has its header. */
export function sectionsOf(file: Buffer) {
  const start = numberAt(file, 40)
  if (file.readUInt16LE(58) !== SECTION_HEADER_BYTES) throw new Error(OTHER)
  return Array.from({ length: file.readUInt16LE(60) }, (_, index) => {
    const at = start + index * SECTION_HEADER_BYTES
    return {
      at,
      type: file.readUInt32LE(at + 4),
      flags: numberAt(file, at + 8),
      address: numberAt(file, at + 16),
      offset: numberAt(file, at + 24),
      size: numberAt(file, at + 32),
    }
  })
}

/** The table of sections and the sections from `from` on moved to the front by `cut` bytes: writes where they are now. */
export function moveSections(file: Buffer, from: number, cut: number): void {
  const table = numberAt(file, 40)
  if (table < from) throw new Error(OTHER)
  writeNumber(file, 40, table - cut)
  for (const { at, offset } of sectionsOf(file)) if (offset >= from) writeNumber(file, at + 24, offset - cut)
}

/** The section that begins at `from`, and its segment, became shorter by `cut` bytes: writes their lengths, and where the sections
 *  behind are now. */
export function shortenSection(file: Buffer, from: number, cut: number): void {
  const segments = segmentsOf(file).filter(({ fileSize }) => fileSize > 0)
  if (segments.some(({ offset }) => offset > from)) throw new Error(OTHER)
  const segment = segments.find(({ type, offset, fileSize }) => type === PT_LOAD && from < offset + fileSize)
  moveSections(file, from + 1, cut)
  const section = sectionsOf(file).find(({ offset }) => offset === from)
  if (segment === undefined || section === undefined) throw new Error(OTHER)
  for (const size of [segment.at + 32, segment.at + 40, section.at + 32])
    writeNumber(file, size, numberAt(file, size) - cut)
}
