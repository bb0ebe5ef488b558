/** Preloaded into scripts/build.ts: writes the modules of packages that are in the executable to the file MODULES, one path of
 *  node_modules a line. Bundles of the dashboard, the manual and libraries that are embedded as files count as well. */
import { writeFileSync } from 'node:fs'

const file = process.env.MODULES
if (file === undefined) throw new Error('MODULES must name a file')
const found = new Set<string>()
const build = Bun.build
Bun.build = (async (options) => {
  const built = await build({ ...options, metafile: true })
  for (const { inputs } of Object.values(built.metafile?.outputs ?? {})) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      if (bytesInOutput > 0 && path.includes('node_modules/')) found.add(path.slice(path.indexOf('node_modules/')))
    }
  }
  writeFileSync(file, `${[...found].sort().join('\n')}\n`)
  return built
}) as typeof Bun.build
