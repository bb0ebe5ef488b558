import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleMjml } from '../../src/submission/mjml/bundle.ts'

/** Replaces src/submission/mjml/bundled.ts: the library is in the executable as one compressed file of 0.2 MB, which a parsing
 *  thread reads when it compiles its first MJML. */
export async function mjmlLibraryAsFile(folder: string): Promise<Bun.BunPlugin> {
  const file = join(folder, 'mjml-library.table')
  writeFileSync(file, Bun.zstdCompressSync(await bundleMjml(), { level: 19 }))
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' }
    export const bundledMjml = async () =>
      new TextDecoder().decode(Bun.zstdDecompressSync(await Bun.file(file).bytes()))`
  return {
    name: 'MJML library as a file',
    setup: (build) => {
      build.onLoad({ filter: /src\/submission\/mjml\/bundled\.ts$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}
