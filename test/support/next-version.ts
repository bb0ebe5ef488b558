import { join } from 'node:path'

/** For scripts/build.ts --plugin: the program as a later version with one more schema step, which writes every message. Its
 *  server breaks just before it is ready, as NEXT_BREAKS says: `exit` ends it, `hang` lets it listen and never say ready. */

export const NEXT_VERSION = '0.9.0'
const ROOT = join(import.meta.dir, '../..')
const STEP = `{ name: '9999_next', both: 'alter table messages add column next_version int;',
  sqlite: 'update messages set next_version = 1;', postgres: '' }`
const BREAK = `if (process.env.NEXT_BREAKS === 'exit') process.exit(1)
  if (process.env.NEXT_BREAKS === 'hang') await new Promise(() => {})
  announceReady(`

const CHANGES: Record<string, (text: string) => string> = {
  'package.json': (text) => text.replace(/"version": "[^"]*"/, `"version": "${NEXT_VERSION}"`),
  'src/storage/migrations.ts': (text) => text.replace(/(STEPS: [^=]*= \[[^\]]*?),?\s*\]/, `$1, ${STEP}]`),
  'src/cli/serve.ts': (text) => text.replace(/^ {2}announceReady\(/m, `  ${BREAK}`),
}

const plugin: Bun.BunPlugin = {
  name: 'next version',
  setup: (build) => {
    for (const [path, change] of Object.entries(CHANGES)) {
      const file = join(ROOT, path)
      build.onLoad({ filter: new RegExp(`^${RegExp.escape(file)}$`) }, async () => {
        const text = await Bun.file(file).text()
        const contents = change(text)
        if (contents === text) throw new Error(`${path} has changed, so that the next version is the same`)
        return { contents, loader: path.endsWith('.json') ? 'json' : 'ts' }
      })
    }
  },
}
export default plugin
