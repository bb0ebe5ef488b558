import { type PackedFile, unpack } from './pack.ts'

/** The files of the dashboard. The executable contains them; a server that runs from source compiles them (packed.ts)
 *  and rejects with the compile errors. */
export async function dashboardFiles(): Promise<PackedFile[]> {
  const { packed } = await import('./packed.ts')
  return unpack(await packed())
}
