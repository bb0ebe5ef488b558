import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A control group of the kernel's own: who has more in memory than it grants is killed. */
export interface MemoryGroup {
  /** Stands before a command line that is to run in it. */
  around: string[]
  /** Waits a little for the last one in it to be gone. */
  close(): void
}

/** So many bytes → the group; null where none can be made (it takes root, and a memory controller of either hierarchy). */
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
