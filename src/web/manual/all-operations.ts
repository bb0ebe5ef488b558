import { join } from 'node:path'
import { makeConfig } from '../../config/load.ts'
import type { Operation } from '../api/operation.ts'

const ROUTES = join(import.meta.dir, '../api/routes')

/** All operations that `web/api/routes` exports as `…Operations`, each once, by path and method. For documentation: they
 *  cannot be called. Requires the source files; the executable contains the pages generated from them. */
export async function allOperations(): Promise<Operation[]> {
  const byName = new Map<string, Operation>()
  for (const file of [...new Bun.Glob('*.ts').scanSync(ROUTES)].sort()) {
    if (file.endsWith('.test.ts')) continue
    const exported: Record<string, unknown> = await import(join(ROUTES, file))
    for (const [name, make] of Object.entries(exported)) {
      if (!name.endsWith('Operations') || typeof make !== 'function') continue
      for (const operation of make(parts, parts)) byName.set(`${operation.path} ${operation.method}`, operation)
    }
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, operation]) => operation)
}

/** Placeholder for what operations use, which must not be called. Some read the config when they are made. */
const anything: object = new Proxy(() => {}, { get: () => anything })
const config = makeConfig({ hostname: 'mail.example.com' })
const parts: object = new Proxy(() => {}, { get: (_, name) => (name === 'config' ? config : anything) })
