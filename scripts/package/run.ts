import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PackedProgram } from './compressed.ts'

const ROOT = join(import.meta.dir, '../..')

/** The content of one package, including folders. */
export interface Making {
  program: string
  packed: PackedProgram
  version: string
  /** Seconds since 1970, for every file. */
  time: number
  /** A folder for temporary files. */
  work: string
  out: string
}

const execute = promisify(execFile)

/** Runs a command in the C locale with our time as the source time; rejects with its output when it fails. */
export async function run(command: string, args: readonly string[], options: { cwd?: string; time: number }) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC', SOURCE_DATE_EPOCH: String(options.time) }
  await execute(command, args, { cwd: options.cwd, env })
}

/** Compresses by xz, with the options of its command line; rejects with its error. */
export async function xzStream(content: Uint8Array, options: readonly string[]): Promise<Buffer> {
  const child = Bun.spawn(['xz', '--check=crc64', '-c', ...options], { stdin: content, stdout: 'pipe', stderr: 'pipe' })
  const [bytes, error, code] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`xz: ${error}`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The time of the commit, or SOURCE_DATE_EPOCH. */
export function commitTime(): number {
  const given = Number(process.env.SOURCE_DATE_EPOCH)
  if (given > 0) return given
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }))
}
