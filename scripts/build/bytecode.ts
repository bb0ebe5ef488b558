/** Bun compiles all modules to bytecode or none. Here only those that a start loads keep theirs; Bun compiles the others from their
 *  text when they are first imported, as without bytecode. */
import { shortenSection, writeNumber } from './elf.ts'
import { layoutOf, POINTERS, part } from './embedded.ts'

/** Names of the outputs that `roots` (paths of sources) load before they run: by static imports, with those of what they import.
 *  Throws if a root is not an entry point or a module that is imported when it is needed. */
export function loadedBy(metafile: Bun.BuildMetafile, roots: readonly string[]): Set<string> {
  const outputs = new Map(Object.entries(metafile.outputs).map(([name, output]) => [nameOf(name), output]))
  const loaded = new Set<string>()
  const load = (name: string) => {
    const output = outputs.get(name)
    if (output === undefined || loaded.has(name)) return
    loaded.add(name)
    for (const { path, kind } of output.imports) if (kind === 'import-statement') load(nameOf(path))
  }
  for (const root of roots) {
    const found = [...outputs].find(([, { entryPoint }]) => entryPoint === root)
    if (found === undefined) throw new Error(`no output begins with ${root}`)
    load(found[0])
  }
  return loaded
}

const nameOf = (path: string) => path.replace(/^(\.\/|\/\$bunfs\/root\/)/, '')

/** A compiled executable and a choice of its files by name → the same with bytecode for these files only. Throws if the file has
 *  another shape than that of Bun 1.4.5. */
export function withBytecodeOf(compiled: Buffer, isChosen: (name: string) => boolean): Buffer {
  const { content, entries, pointers } = layoutOf(compiled)
  const offsetAt = (at: number) => compiled.readUInt32LE(at)
  const dropped = entries.filter((entry) => {
    const name = part(content, compiled, entry + POINTERS.name).toString()
    return offsetAt(entry + POINTERS.bytecode + 4) > 0 && !isChosen(nameOf(name))
  })
  const begins = pointers.filter((at) => offsetAt(at + 4) > 0).map(offsetAt)
  const cuts = dropped.map((entry) => {
    const start = offsetAt(entry + POINTERS.bytecode)
    const end = start + offsetAt(entry + POINTERS.bytecode + 4)
    const next = Math.min(...begins.filter((begin) => begin >= end))
    // What follows keeps its alignment.
    const bytes = Math.ceil((end - start) / ALIGNMENT) * ALIGNMENT
    return { start, bytes: start + bytes <= next ? bytes : bytes - ALIGNMENT }
  })
  const sum = (some: { bytes: number }[]) => some.reduce((bytes, cut) => bytes + cut.bytes, 0)
  const cut = sum(cuts)

  const changed = Buffer.from(compiled)
  for (const at of pointers) {
    const offset = offsetAt(at)
    changed.writeUInt32LE(offset - sum(cuts.filter(({ start }) => start < offset)), at)
  }
  for (const entry of dropped)
    for (const at of [POINTERS.bytecode, POINTERS.imports, POINTERS.path]) changed.fill(0, entry + at, entry + at + 8)
  const contentAt = content.byteOffset - compiled.byteOffset
  const contentEnd = contentAt + content.length
  writeNumber(changed, contentAt - 8, Number(changed.readBigUInt64LE(contentAt - 8)) - cut)
  writeNumber(changed, contentEnd, content.length - cut)

  const kept: Buffer[] = []
  let at = 0
  for (const { start, bytes } of cuts.toSorted((a, b) => a.start - b.start)) {
    kept.push(changed.subarray(at, contentAt + start))
    at = contentAt + start + bytes
  }
  const result = Buffer.concat([...kept, changed.subarray(at)])
  shortenSection(result, contentAt - 8, cut)
  return result
}

const ALIGNMENT = 128
