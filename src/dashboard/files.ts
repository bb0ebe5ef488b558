import { type PackedFile, unpack } from './pack.ts'

/** The files of the dashboard: made ahead in the executable, now when run from source (packed.ts). */
export async function dashboardFiles(): Promise<PackedFile[]> {
  const { packed } = await import('./packed.ts')
  return unpack(await packed())
}
