import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { openApiDocument } from '../openapi-document.ts'
import { clientFiles } from './files.ts'
import { phpFiles } from './php.ts'
import { pythonFiles } from './python.ts'

const ROOT = join(import.meta.dir, '../..')
const SRC = join(ROOT, 'src/client')

/** The complete packages `python` and `php`: generated files, and copies of the runtimes in src/client. */
export const PACKAGES = join(ROOT, 'dist/clients')

/** Starts a server for its OpenAPI document, and writes the generated files of all clients → the paths of those that
 *  changed. Those in TypeScript go to src/client, because the runtime, the command line and the API reference import
 *  them there. Throws for a part of the document that a client cannot express. */
export async function writeClients(): Promise<string[]> {
  const document = await openApiDocument()
  const packages = { ...runtimes(), ...pythonFiles(document), ...phpFiles(document) }
  const written = [...writeFiles(SRC, clientFiles(document)), ...writeFiles(PACKAGES, packages)]
  removeOthers(PACKAGES, packages)
  return written.map((path) => relative(ROOT, path))
}

/** Copies the runtimes again, for tests of a runtime that has just been edited → the folder of the packages. */
export function renewRuntimes(): string {
  writeFiles(PACKAGES, runtimes())
  return PACKAGES
}

/** Path in a package → text. */
function runtimes(): Record<string, string> {
  const paths = [...new Bun.Glob('{python,php}/**/*.{py,typed,php}').scanSync(SRC)]
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(SRC, path), 'utf8')]))
}

/** Writes texts by their path in a folder → the files that were missing or had another text. It leaves the others alone,
 *  because a newer time would make scripts/try build again. It removes a file before it writes it, because a copy of the
 *  checkout may have the same file as a hard link. */
export function writeFiles(folder: string, texts: Record<string, string>): string[] {
  const changed = Object.entries(texts).filter(([path, text]) => {
    const file = join(folder, path)
    return !existsSync(file) || readFileSync(file, 'utf8') !== text
  })
  return changed.map(([path, text]) => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    rmSync(file, { force: true })
    writeFileSync(file, text)
    return file
  })
}

/** Removes files of earlier versions, which would become part of a release. */
export function removeOthers(folder: string, texts: Record<string, string>): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && !(relative(folder, file) in texts)) rmSync(file)
  }
}
