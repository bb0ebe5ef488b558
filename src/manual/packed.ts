import { packTogether } from '../dashboard/pack.ts'
import { bundleManual } from './bundle.ts'

/** Builds the files now, from source. scripts/build.ts replaces this module by one that reads the prebuilt files. */
export async function packed(): Promise<Uint8Array> {
  return packTogether(await bundleManual(), false)
}
