/** Checks every import in src against the layers (layers.ts). Prints each fault as file:line; exit code 1 when there is
 *  one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultsIn } from './layers.ts'

const SRC = join(import.meta.dir, '../src')

const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)].sort()
const faults = files.flatMap((file) => faultsIn(file, readFileSync(join(SRC, file), 'utf8')))
for (const { file, line, message } of faults) console.log(`src/${file}:${line}: ${message}`)
console.log(`layers: ${files.length} files, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
