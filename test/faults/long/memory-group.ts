import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A kernel control group that kills a process above its memory limit. */
export interface MemoryGroup {
  /** A prefix for a command line that runs in it. */
  around: string[]
  /** Waits briefly until its last process has ended. */
  close(): void
}

/** Memory limit in bytes → the group; null if none can be made (it requires root and a memory controller of either
 *  version). */
export function makeMemoryGroup(bytes: number): MemoryGroup | null {
  for (const [root, limit] of HIERARCHIES) {
    const folder = join(root, `postrider-faults-${process.pid}`)
    try {
      if (!existsSync(join(root, 'cgroup.procs'))) continue
      mkdirSync(folder)
      writeFileSync(join(folder, limit), String(bytes))
      return {
        around: ['/bin/sh', '-c', `echo $$ > ${folder}/cgroup.procs && exec "$@"`, 'in-group'],
        close: () => removeEmpty(folder),
      }
    } catch {
      if (existsSync(folder)) rmdirSync(folder)
    }
  }
  return null
}

function removeEmpty(folder: string): void {
  for (let tries = 0; existsSync(folder) && tries < 20; tries++) {
    try {
      rmdirSync(folder)
    } catch {
      Bun.sleepSync(50) // a process that was just killed is still in it
    }
  }
}

const HIERARCHIES = [
  ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ['/sys/fs/cgroup', 'memory.max'],
] as const
