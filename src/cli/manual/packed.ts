import { packTogether } from '../../web/dashboard/pack.ts'
import { createProgram } from '../program.ts'
import { treeOf } from './tree.ts'

/** Builds the files of the manual now, from source. scripts/build.ts replaces this module by one that reads the prebuilt
 *  files. */
export async function packedManual(): Promise<Uint8Array> {
  const { bundleManual } = await import('../../web/manual/bundle.ts') // only when it is read
  return packTogether(await bundleManual(commandTree()), false)
}

/** The commands of this program. */
export const commandTree = () => treeOf(createProgram(() => {}))
