/** What Bun 1.4.5 embeds in an executable: src/standalone_module_graph of oven-sh/bun. All numbers are little-endian. */

/** A file of the executable; a module with bytecode has `bytecodeBytes` beside its text. */
export interface Embedded {
  name: string
  content: Uint8Array
  bytecode: Uint8Array
}

/** An executable → its files, and `rest`: the bytes that belong to none of them. With bytecode these are the bytecode of Bun's
 *  own modules that the program uses, and strings that all bytecode shares. Throws for a file without such an end. */
export function embeddedIn(executable: Buffer): { files: Embedded[]; rest: number; total: number } {
  const end = executable.lastIndexOf(TRAILER)
  if (end < OFFSETS_BYTES) throw new Error('nothing is embedded in this file')
  const total = Number(executable.readBigUInt64LE(end - OFFSETS_BYTES))
  const content = executable.subarray(end - OFFSETS_BYTES - total, end - OFFSETS_BYTES)
  const table = part(content, executable, end - OFFSETS_BYTES + 8)
  if (table.length % ENTRY_BYTES !== 0) throw new Error('the table of files has another form than that of Bun 1.4.5')
  const files = Array.from({ length: table.length / ENTRY_BYTES }, (_, index) => {
    const at = index * ENTRY_BYTES
    return {
      name: part(content, table, at).toString().replace('/$bunfs/root/', ''),
      content: part(content, table, at + 8),
      bytecode: part(content, table, at + 24),
    }
  })
  const used = files.reduce((sum, file) => sum + file.content.length + file.bytecode.length, 0)
  return { files, rest: total - used, total }
}

const TRAILER = '\n---- Bun! ----\n'
const OFFSETS_BYTES = 32
/** Name, content, source map, bytecode and two more as offset and length of 32 bits each, then four bytes. */
const ENTRY_BYTES = 52

function part(content: Buffer, table: Buffer, at: number): Buffer {
  const start = table.readUInt32LE(at)
  return content.subarray(start, start + table.readUInt32LE(at + 4))
}
