import { type PackedFile, unpack } from './pack.ts'

/** The files of the dashboard: compiled at build time in the executable, on demand when run from source (packed.ts). */
export async function dashboardFiles(): Promise<PackedFile[]> {
  const { packed } = await import('./packed.ts')
  return unpack(await packed())
}
