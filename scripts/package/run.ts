import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dir, '../..')

/** The content of one package, including folders. */
export interface Making {
  program: string
  version: string
  /** Seconds since 1970, for every file. */
  time: number
  /** A folder for temporary files. */
  work: string
  out: string
}

/** One thread, because the result depends on their number. */
export const XZ_THREADS = 1

const execute = promisify(execFile)

/** Runs a command in the C locale with our time as the source time; rejects with its output when it fails. */
export async function run(command: string, args: readonly string[], options: { cwd?: string; time: number }) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC', SOURCE_DATE_EPOCH: String(options.time) }
  await execute(command, args, { cwd: options.cwd, env })
}

/** The time of the commit, or SOURCE_DATE_EPOCH. */
export function commitTime(): number {
  const given = Number(process.env.SOURCE_DATE_EPOCH)
  if (given > 0) return given
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }))
}
