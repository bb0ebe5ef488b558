import { chmodSync, cpSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const SOURCE = join(ROOT, 'src/client/templates')

/** src/client/templates → the program `postrider-templates.mjs` in a folder, for Node and Bun: one file, because it has
 *  the template engine of the server inside, with the licences of its packages and the process that renders. */
export async function bundleTemplates(folder: string): Promise<void> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(SOURCE, 'main.ts')],
    outdir: folder,
    naming: 'postrider-templates.mjs',
    target: 'node',
    banner: '#!/usr/bin/env node',
    metafile: true,
  })
  chmodSync(outputs[0]!.path, 0o755)
  cpSync(join(SOURCE, 'push/host.mjs'), join(folder, 'host.mjs'))
  const paths = Object.keys(metafile!.inputs)
  const packages = new Set(paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))
  for (const name of packages) {
    cpSync(join(ROOT, 'node_modules', name, 'LICENSE'), join(folder, `LICENSE-${name.replace('/', '-')}`))
  }
}
