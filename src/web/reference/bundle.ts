import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilePage } from '../dashboard/bundle.ts'
import { type PackedFile, packedFile } from '../dashboard/pack.ts'

const FOLDER = '/docs/assets/'

/** Compiles ui/ into the files that browsers load, each compressed (web/dashboard/pack.ts). Requires the source files, like
 *  bundleDashboard. Rejects with the compile errors. */
export async function bundleReference({ isForRelease }: { isForRelease: boolean }): Promise<PackedFile[]> {
  const files = await compilePage(join(import.meta.dir, 'ui/index.html'), FOLDER, [OWN_FONT])
  return Promise.all(files.map((file) => packedFile(file, isForRelease)))
}

/** The font of the dashboard at a path of this page, because a server may have no dashboard (pages.ts). */
const OWN_FONT: Bun.BunPlugin = {
  name: 'own font',
  setup: (build) => {
    build.onLoad({ filter: /dashboard\/ui\/fonts\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('/dashboard/assets/', FOLDER),
      loader: 'css',
    }))
  },
}
