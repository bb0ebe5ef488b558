import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a value of JSON once for all files of a run (scripts/run-tests/tests.ts), which removes it at its end. A file that
 *  runs alone makes its own. */
export async function onceInRun<T>(name: string, make: () => Promise<T>): Promise<T> {
  if (process.env.TEST_RUN === undefined) return make()
  const kept = join(tmpdir(), `postrider-${name}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const value = await make()
  // Another file may do the same at the same time.
  const folder = mkdtempSync(`${kept}-`)
  writeFileSync(join(folder, 'value'), JSON.stringify(value))
  renameSync(join(folder, 'value'), kept)
  rmSync(folder, { recursive: true })
  return value
}
