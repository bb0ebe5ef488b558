/** What the executable contains, by size: `bun scripts/parts.ts [PROGRAM] [--all]`, dist/postrider by default. Each part with its
 *  size in kB and compressed alone (zstd, level 9). Text by package and folder comes from the build: dist/.parts-<program>.json.
 *  `--all` lists every embedded file. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Embedded, embeddedIn } from './build/embedded.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false } },
})
const program = positionals[0] ?? join(import.meta.dir, '../dist/postrider')
const executable = readFileSync(program)
const { files, rest, total } = embeddedIn(executable)
const isCode = ({ bytecode, name }: Embedded) => bytecode.length > 0 || name.endsWith('.js')

print('the executable', statSync(program).size)
print('Bun', executable.length - total)
print('embedded', total)
const code = files.filter(isCode)
print('  our code and packages, as text', ...sizesOf(code.map(({ content }) => content)))
print('  bytecode of what a start loads', ...sizesOf(code.map(({ bytecode }) => bytecode)))
print("  bytecode of Bun's modules, strings of all bytecode", rest)
const others = files.filter((file) => !isCode(file))
for (const [kind, ending] of Object.entries({
  'pages and manual': '.pack',
  'libraries and tables': '.table',
})) {
  const ofKind = others.filter(({ name }) => name.endsWith(ending))
  print(`  ${kind}, ${ofKind.length} files`, ...sizesOf(ofKind.map(({ content }) => content)))
}

console.log('\nFiles')
const shown = values.all ? Number.POSITIVE_INFINITY : 20
for (const { name, content, bytecode } of files.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, shown)) {
  print(`  ${name}`, ...sizesOf([content]))
  if (bytecode.length > 0) print('    its bytecode', ...sizesOf([bytecode]))
}

const listed = join(dirname(program), `.parts-${basename(program)}.json`)
if (existsSync(listed)) {
  console.log('\nText by folder and package')
  const bytes: Record<string, number> = JSON.parse(readFileSync(listed, 'utf8'))
  for (const [name, size] of Object.entries(bytes).slice(0, shown * 2)) print(`  ${name}`, size)
}

function sizeOf({ content, bytecode }: Embedded): number {
  return content.length + bytecode.length
}

function sizesOf(parts: Uint8Array[]): [number, number] {
  const all = Buffer.concat(parts)
  return [all.length, Bun.zstdCompressSync(all, { level: 9 }).length]
}

function print(what: string, bytes: number, compressed?: number): void {
  const columns = [bytes, compressed].map((value) =>
    (value === undefined ? '' : (value / 1_000).toFixed(1)).padStart(12),
  )
  console.log(`${what.padEnd(60)}${columns.join('')}`)
}
