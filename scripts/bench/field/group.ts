import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../process.ts'

/** A kernel control group (version 2, or beside version 1): all child processes stay in it, including daemons and
 *  leftovers. */
export interface Group {
  /** Starts a program in it, appending its output to `logFile` → once it ended. */
  run(command: string[], logFile: string): Promise<void>
  /** User and system time of all its processes, ended ones included. */
  cpuSeconds(): number
  /** Kills all and waits for the last. */
  end(): Promise<void>
}

let groups = 0
const open = new Set<string>()

/** A new, empty group. It requires root and a kernel of 5.14 or later; throws without. It ends with this process at
 *  the latest. */
export function makeGroup(): Group {
  const root = HIERARCHIES.find((folder) => existsSync(join(folder, 'cgroup.controllers')))
  if (root === undefined) throw new Error('no control groups of version 2 found')
  if (++groups === 1) leaveNothingBehind()
  const folder = join(root, `postrider-field-${process.pid}-${groups}`)
  mkdirSync(folder)
  open.add(folder)
  return {
    run: ([file, ...args], logFile) => {
      const log = openSync(logFile, 'a')
      const joining = ['-c', `echo $$ > ${folder}/cgroup.procs && exec "$@"`, 'in-group', file!, ...args]
      const child = spawn('/bin/sh', joining, { stdio: ['ignore', log, log], cwd: '/' })
      closeSync(log)
      return new Promise((ended) => child.on('exit', () => ended()))
    },
    cpuSeconds: () => Number(/usage_usec (\d+)/.exec(readFileSync(join(folder, 'cpu.stat'), 'utf8'))![1]) / 1e6,
    end: async () => {
      killAll(folder)
      await until(() => wentAway(folder))
      open.delete(folder)
    },
  }
}

const HIERARCHIES = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']
const killAll = (folder: string) => writeFileSync(join(folder, 'cgroup.kill'), '1')

/** False while just killed processes are still in it. */
function wentAway(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** A bench that fails or is stopped ends them too. */
function leaveNothingBehind(): void {
  process.on('exit', () => {
    for (const folder of open) {
      killAll(folder)
      for (let tries = 0; tries < 40 && !wentAway(folder); tries++) Bun.sleepSync(50)
    }
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
}
