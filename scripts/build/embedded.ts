/** What Bun 1.4.5 embeds in an executable: src/standalone_module_graph of oven-sh/bun. All numbers are little-endian. */

/** A file of the executable. A module has its text as `content`; `bytecode` is empty for other files. */
export interface Embedded {
  name: string
  content: Uint8Array
  bytecode: Uint8Array
}

/** An executable → its files, and `rest`: the bytes that belong to none of them. With bytecode these are the bytecode of Bun's
 *  own modules that the program uses, and strings that all bytecode shares. Throws as `layoutOf`. */
export function embeddedIn(executable: Buffer): { files: Embedded[]; rest: number; total: number } {
  const { content, entries } = layoutOf(executable)
  const total = content.length
  const files = entries.map((at) => ({
    name: part(content, executable, at + POINTERS.name)
      .toString()
      .replace('/$bunfs/root/', ''),
    content: part(content, executable, at + POINTERS.content),
    bytecode: part(content, executable, at + POINTERS.bytecode),
  }))
  const used = files.reduce((sum, file) => sum + file.content.length + file.bytecode.length, 0)
  return { files, rest: total - used, total }
}

/** Where the parts of an executable are. */
export interface Layout {
  /** What is embedded; offsets count from its start. */
  content: Buffer
  /** Where each file has its entry in the executable: `POINTERS`, then four bytes. */
  entries: number[]
  /** Where the executable has the offset and length, of 32 bits each, of a part: those of the entries and two behind the
   *  content. The bytes behind the table of entries have more of them, for what is in no file (`rest`). */
  pointers: number[]
}

/** Pointers of an entry: name, content, source map, bytecode, what the module imports, path of the bytecode. */
export const POINTERS = { name: 0, content: 8, sourceMap: 16, bytecode: 24, imports: 32, path: 40 }

/** An executable → where its parts are. Throws for a file that embeds nothing, or in another form. */
export function layoutOf(executable: Buffer): Layout {
  const end = executable.lastIndexOf(TRAILER) - OFFSETS_BYTES
  if (end < 0) throw new Error('nothing is embedded in this file')
  if (executable.readUInt32LE(end + 28) >= NEWER_FLAG) throw new Error(OTHER)
  const start = end - Number(executable.readBigUInt64LE(end))
  const table = { start: start + executable.readUInt32LE(end + 8), bytes: executable.readUInt32LE(end + 12) }
  if (table.bytes % ENTRY_BYTES !== 0) throw new Error(OTHER)
  const entries = Array.from({ length: table.bytes / ENTRY_BYTES }, (_, index) => table.start + index * ENTRY_BYTES)
  const pointers = entries.flatMap((entry) => Object.values(POINTERS).map((at) => entry + at))
  return { content: executable.subarray(start, end), entries, pointers: [...pointers, end + 8, end + 20] }
}

const TRAILER = '\n---- Bun! ----\n'
const OFFSETS_BYTES = 32
/** Bun 1.4.5 sets flags up to bit 11. */
const NEWER_FLAG = 0x1000
export const OTHER = 'what the executable contains has another form than that of Bun 1.4.5'
const ENTRY_BYTES = 52

/** What a pointer points to. */
export function part(content: Buffer, executable: Buffer, at: number): Buffer {
  const start = executable.readUInt32LE(at)
  return content.subarray(start, start + executable.readUInt32LE(at + 4))
}
