import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

/** Builds dist/postrider if it is missing, for a test file that runs alone; scripts/test builds it first. */
export function buildOnce(): void {
  if (existsSync(join(ROOT, 'dist/postrider'))) return
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}
