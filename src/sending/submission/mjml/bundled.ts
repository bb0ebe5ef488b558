import { bundleMjml } from './bundle.ts'

/** Bundles the MJML library. scripts/build.ts replaces this module with one that reads the bundle of the executable. */
export const bundledMjml = (): Promise<string> => bundleMjml()
