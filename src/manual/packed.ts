import { pack } from '../dashboard/pack.ts'
import { bundleManual } from './bundle.ts'

/** From source: made now. scripts/build.ts replaces this file by one that reads what it made before. */
export async function packed(): Promise<Uint8Array> {
  return pack(await bundleManual({ isForRelease: false }))
}
