/** Bun appends what an executable contains to its last segment, so that the memory which starts as zeros (.bss) is in the
 *  file too: 1.8 MB for x64. Here the content gets a segment of its own. Its entry in the program headers replaces that of
 *  the notes, which only tools read. System V ABI, chapters 4 and 5. */
import { moveSections, OTHER, PT_LOAD, sectionsOf, segmentsOf, writeNumber } from './elf.ts'

/** A compiled executable → the same without the zeros. Throws if the file has another shape than that of Bun's linker. */
export function withoutGap(compiled: Buffer): Buffer {
  const segments = segmentsOf(compiled)
  const last = segments.findLast(({ type }) => type === PT_LOAD)
  const notes = segments.findLast(({ type }) => type === PT_NOTE)
  const sections = sectionsOf(compiled)
  const zeros = sections.find(({ type, flags }) => type === SHT_NOBITS && (flags & SHF_TLS) === 0)
  if (last === undefined || zeros === undefined || notes === undefined || notes.at < last.at) throw new Error(OTHER)
  const content = sections.find(({ address }) => address >= zeros.address + zeros.size)
  if (content === undefined || content.offset + content.size > last.offset + last.fileSize) throw new Error(OTHER)
  if (compiled.subarray(zeros.offset, content.offset).some((byte) => byte !== 0)) throw new Error(OTHER)

  // The same place within a page, as mapping requires.
  const cut = content.offset - zeros.offset - ((content.offset - zeros.offset) % last.align)
  const result = Buffer.concat([compiled.subarray(0, content.offset - cut), compiled.subarray(content.offset)])
  writeNumber(result, last.at + 32, zeros.offset - last.offset)
  writeNumber(result, last.at + 40, zeros.address + zeros.size - last.address)
  result.writeUInt32LE(PT_LOAD, notes.at)
  result.writeUInt32LE(last.flags, notes.at + 4)
  for (const [index, value] of [
    content.offset - cut,
    content.address,
    content.address,
    content.size,
    content.size,
    last.align,
  ].entries())
    writeNumber(result, notes.at + 8 + 8 * index, value)
  moveSections(result, content.offset, cut)
  return result
}

const PT_NOTE = 4
const SHT_NOBITS = 8
const SHF_TLS = 0x400
