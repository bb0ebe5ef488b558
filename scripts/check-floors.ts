/** Every import in src against the floors of the house (floors.ts). Prints each offence as file:line; exit code 1 when
 *  there is one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { offencesIn } from './floors.ts'

const SRC = join(import.meta.dir, '../src')

const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SRC)].sort()
const offences = files.flatMap((file) => offencesIn(file, readFileSync(join(SRC, file), 'utf8')))
for (const { file, line, message } of offences) console.log(`src/${file}:${line}: ${message}`)
console.log(`floors: ${files.length} files, ${offences.length} offences`)
process.exitCode = offences.length === 0 ? 0 : 1
