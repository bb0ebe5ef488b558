import { existsSync } from 'node:fs'
import { run } from './run.ts'

const QUERY_MS = 30_000
const FOLDER = '/usr/bin/'

/** Whether Debian's package manager installed the program: then it also installs the new one, or it would not know of it. */
export async function isOfPackage(program: string): Promise<boolean> {
  if (!program.startsWith(FOLDER) || !existsSync('/var/lib/dpkg') || Bun.which('dpkg-query') === null) return false
  return (await run(['dpkg-query', '--search', program], { limitMs: QUERY_MS })).code === 0
}
