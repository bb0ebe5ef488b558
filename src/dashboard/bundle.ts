import { join } from 'node:path'
import { fontFiles } from './font.ts'
import { type PackedFile, packedFile } from './pack.ts'
import { STARTERS } from './starters/starters.ts'

const FOLDER = '/dashboard/assets/'

/** Compiles ui/ into the files that browsers load, each compressed (pack.ts); a release uses the highest level. It
 *  needs the source files: scripts/build.ts calls it for the executable, and a server that runs from source
 *  calls it at the first request. Rejects with the compile errors. */
export async function bundleDashboard({ isForRelease }: { isForRelease: boolean }): Promise<PackedFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'ui/index.html')],
    target: 'browser',
    splitting: true,
    minify: true,
    sourcemap: 'none',
    publicPath: FOLDER,
    external: [`${FOLDER}*`],
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const compiled = outputs.map(
    async (output) => [output.path.replace(/^\.?\//, ''), new Uint8Array(await output.arrayBuffer())] as const,
  )
  const starters = STARTERS.map((starter) => {
    return [`starter-templates/${starter.alias}.json`, new TextEncoder().encode(JSON.stringify(starter))] as const
  })
  const files = [...(await Promise.all(compiled)), ...starters, ...(await fontFiles({ isForRelease }))]
  return files.map(([name, bytes]) => packedFile(name, bytes, isForRelease))
}
