import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const PROGRAM = join(ROOT, 'dist/postrider')
/** The program as a later version (next-version.ts). */
export const NEXT_PROGRAM = join(ROOT, 'dist/postrider-next')

/** Builds dist/postrider if it is missing, for a test file that runs alone; scripts/test builds it first. */
export function buildOnce(): void {
  if (existsSync(PROGRAM)) return
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Builds NEXT_PROGRAM unless it is as new as dist/postrider. Of several processes, one builds it and the others wait. */
export function buildNext(): void {
  buildOnce()
  const args = [`${NEXT_PROGRAM}.lock`, 'sh', '-c', BUILD_NEXT, 'sh', NEXT_PROGRAM, PROGRAM, process.execPath]
  execFileSync('flock', args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}

const BUILD_NEXT = `[ -e "$1" ] && ! [ "$1" -ot "$2" ] ||
  exec "$3" scripts/build.ts --plugin test/support/next-version.ts --out postrider-next`
