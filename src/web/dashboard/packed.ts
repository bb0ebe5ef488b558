import { bundleDashboard } from './bundle.ts'
import { pack } from './pack.ts'

/** Compiles the dashboard and packs its files. scripts/build.ts replaces this module with one that returns the bytes
 *  compiled at build time. */
export async function packed(): Promise<Uint8Array> {
  return pack(await bundleDashboard({ isForRelease: false }))
}
