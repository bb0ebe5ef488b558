import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { segmentsOnly } from './elf.ts'

/** Embeds the SQLite addon of a target (`linux-x64`, `linuxmusl-arm64`) compressed: 1.0 MB instead of 2.3. Decompressing takes
 *  4 ms. As it is, Bun would write it to the temporary folder, which may not allow executable files. */
export function addonAsFile(root: string, folder: string, target: string): Bun.BunPlugin {
  const addon = join(root, `node_modules/better-sqlite3/prebuilds/${target}.node`)
  const file = join(folder, 'sqlite-addon.table')
  writeFileSync(file, Bun.zstdCompressSync(segmentsOnly(readFileSync(addon)), { level: 19 }))
  const contents = `const { readFileSync } = require('node:fs')
    const { loadAddon } = require(${JSON.stringify(join(root, 'src/os/load-addon.ts'))})
    module.exports = loadAddon(Bun.zstdDecompressSync(readFileSync(require(${JSON.stringify(file)}))))`
  return {
    name: 'SQLite addon as a file',
    setup: (build) => {
      build.onLoad({ filter: /\/better-sqlite3\/prebuilds\/.*\.node$/ }, ({ path }) => {
        if (path !== addon) throw new Error(`${path} is not the addon of ${target}`)
        return { contents, loader: 'js' }
      })
    },
  }
}
