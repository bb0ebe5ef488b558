import { type PackedFile, unpack } from '../dashboard/pack.ts'

/** The files of the API reference. The executable contains them; a server that runs from source compiles them
 *  (packed.ts) and rejects with the compile errors. */
export async function referenceFiles(): Promise<PackedFile[]> {
  const { packed } = await import('./packed.ts')
  return unpack(await packed())
}
