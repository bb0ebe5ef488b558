/** Checks every import in src against the layers (layers.ts), and that no files and no modules import each other. Prints
 *  each fault as file:line; exit code 1 with faults. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { circlesIn, cyclesIn, faultsIn } from './layers.ts'

const SRC = join(import.meta.dir, '../src')

const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)].sort()
const texts = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))
const faults = [...[...texts].flatMap(([file, text]) => faultsIn(file, text)), ...cyclesIn(texts), ...circlesIn(texts)]
for (const { file, line, message } of faults) console.log(`src/${file}:${line}: ${message}`)
console.log(`layers: ${files.length} files, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
