import { bundleDashboard } from './bundle.ts'
import { pack } from './pack.ts'

/** From source: compiles on demand. scripts/build.ts replaces this file with one that reads the compiled bundle. */
export async function packed(): Promise<Uint8Array> {
  return pack(await bundleDashboard({ isForRelease: false }))
}
