import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './patience.ts'

/** A server program that outlives a test which times out: Bun then kills all processes that the test started.
 *  It ends with the test process, however that ends. */
export interface Daemon {
  pid: number
  isRunning(): boolean
  /** What it printed, both streams together. */
  log(): string
  /** Sends the signal and returns when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface DaemonOptions {
  /** The user may write to it. Gets the log and the process ID. */
  folder: string
  uid?: number | undefined
  gid?: number | undefined
}

/** Starts it as a child of a shell, so that it is none of the processes that Bun kills. A second shell ends it when the
 *  test process is gone. `$1` is that process. */
const SCRIPT = `
owner=$1 folder=$2
shift 2
: >"$folder/daemon.log"
"$@" </dev/null >>"$folder/daemon.log" 2>&1 &
echo $! >"$folder/daemon.pid"
{ while [ -d /proc/$owner ] && [ -d /proc/$! ]; do sleep 0.5; done; kill -9 $!; } </dev/null >/dev/null 2>&1 &
`

/** Starts a program → once it runs. Throws when there is no shell. */
export function startDaemon(command: readonly string[], { folder, uid, gid }: DaemonOptions): Daemon {
  const args = ['-c', SCRIPT, 'sh', String(process.pid), folder, ...command]
  const owner = uid === undefined || gid === undefined ? {} : { uid, gid }
  const { status } = spawnSync('/bin/sh', args, { ...owner, cwd: folder, stdio: 'ignore' })
  if (status !== 0) throw new Error(`${command[0]}: the shell ended with ${status}`)
  const pid = Number(readFileSync(join(folder, 'daemon.pid'), 'utf8'))
  return {
    pid,
    isRunning: () => isRunning(pid),
    log: () => readFileSync(join(folder, 'daemon.log'), 'utf8'),
    end: async (signal) => {
      if (!isRunning(pid)) return
      process.kill(pid, signal)
      await until(`${command[0]} to end`, () => !isRunning(pid))
    },
  }
}

/** A process that has ended but was not waited for does not run (proc(5), state Z). */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false // there is none any more
  }
}
