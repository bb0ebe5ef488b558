import { bundleDashboard } from './bundle.ts'
import { pack } from './pack.ts'

/** From source: made now. scripts/build.ts puts in place of this file one that reads what it made ahead. */
export async function packed(): Promise<Uint8Array> {
  return pack(await bundleDashboard({ isForRelease: false }))
}
