import { pack } from '../dashboard/pack.ts'
import { bundleReference } from './bundle.ts'

/** Compiles the API reference and packs its files. scripts/build.ts replaces this module with one that returns the bytes
 *  compiled at build time. */
export async function packed(): Promise<Uint8Array> {
  return pack(await bundleReference({ isForRelease: false }))
}
