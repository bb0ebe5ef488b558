/** Largest sizes of the program and its .tar.xz in MB (10^6 bytes), for downloads and small machines. The program's is
 *  1 MB above what it has, so that growth is a decision. scripts/smoke.ts, scripts/package.ts and scripts/release.ts check them. */
export const LIMITS_MB = { program: 116, xz: 41.5 }
