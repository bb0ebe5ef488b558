/** Bun compiles all modules to bytecode or none. Here only those that a start loads keep theirs. Of the others, Bun compiles the
 *  text when they are first imported. */
import { shortenSection, writeNumber } from './elf.ts'
import { layoutOf, OTHER, POINTERS, part } from './embedded.ts'

/** Names of the outputs that `roots` (paths of sources) load before they run: by static imports, with those of what they import.
 *  Throws if a root is not an entry point or a module that is imported when it is needed, or an import is no output. */
export function loadedBy(metafile: Bun.BuildMetafile, roots: readonly string[]): Set<string> {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [nameOf(path), output]))
  const loaded = new Set<string>()
  const load = (name: string) => {
    if (loaded.has(name)) return
    const output = outputs.get(name)
    if (output === undefined) throw new Error(`no output has the name ${name}`)
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

/** A compiled executable and names of its modules → the same with bytecode for these modules only. Throws if one of them has none, if
 *  the modules that run first are not among them, or if the file has another form than that of Bun 1.4.5. */
export function withBytecodeOf(compiled: Buffer, chosen: ReadonlySet<string>): Buffer {
  const { content, entries, pointers } = layoutOf(compiled)
  const partAt = (at: number) => {
    const start = compiled.readUInt32LE(at)
    return { start, end: start + compiled.readUInt32LE(at + 4) }
  }
  const isFilled = (at: number) => compiled.readUInt32LE(at + 4) > 0
  const modules = entries.filter((entry) => isFilled(entry + POINTERS.bytecode))
  const nameAt = (entry: number) => nameOf(part(content, compiled, entry + POINTERS.name).toString())
  const names = new Set(modules.map(nameAt))
  for (const name of chosen) if (!names.has(name)) throw new Error(`${name} has no bytecode`)

  const parts = pointers
    .filter(isFilled)
    .map(partAt)
    .sort((a, b) => a.start - b.start)
  const dropped = modules.filter((entry) => !chosen.has(nameAt(entry)))
  const cuts = dropped
    .map((entry) => partAt(entry + POINTERS.bytecode))
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => {
      const next = parts.find((each) => each.start >= end)!
      // What follows keeps its alignment.
      const bytes = Math.ceil((end - start) / ALIGNMENT) * ALIGNMENT
      return { start, bytes: start + bytes <= next.start ? bytes : bytes - ALIGNMENT }
    })
  // What is in no file has its pointers elsewhere. They stay right because none of it is behind a cut.
  const moved = parts.filter(({ start }) => start >= (cuts[0]?.start ?? content.length))
  if (moved.some(({ end }, at) => (moved[at + 1]?.start ?? end) - end >= ALIGNMENT)) throw new Error(OTHER)

  const cutBefore = (offset: number) => cuts.reduce((sum, { start, bytes }) => (start < offset ? sum + bytes : sum), 0)
  const cut = cutBefore(content.length)
  const changed = Buffer.from(compiled)
  for (const at of pointers) changed.writeUInt32LE(partAt(at).start - cutBefore(partAt(at).start), at)
  for (const entry of dropped)
    for (const at of [POINTERS.bytecode, POINTERS.imports, POINTERS.path]) changed.fill(0, entry + at, entry + at + 8)
  const contentAt = content.byteOffset - compiled.byteOffset
  const contentEnd = contentAt + content.length
  writeNumber(changed, contentAt - 8, Number(changed.readBigUInt64LE(contentAt - 8)) - cut)
  writeNumber(changed, contentEnd, content.length - cut)

  const kept: Buffer[] = []
  let at = 0
  for (const { start, bytes } of cuts) {
    kept.push(changed.subarray(at, contentAt + start))
    at = contentAt + start + bytes
  }
  const result = Buffer.concat([...kept, changed.subarray(at)])
  shortenSection(result, contentAt - 8, cut)
  return result
}

/** Bytecode begins at multiples of this in memory. */
const ALIGNMENT = 128
