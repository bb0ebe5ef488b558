import { readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** systemd in a container manages the control groups below its own, so each container requires some of its own. */
export interface ControlGroups {
  /** Words before a command that make it run in them. */
  inside: string[]
  /** Removes them. Every process in them must have ended. */
  remove(): void
}

/** Moves a shell into the folders before `--`, then becomes the command after it. */
const ENTER = 'while [ "$1" != -- ]; do mkdir "$1"; echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"'

/** The hierarchies that systemd uses: the one of version 2, and of version 1 the one with its name. cgroups(7) */
export function controlGroups(name: string): ControlGroups {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const folders = mounts.flatMap((line) => {
    const [, at = '', type, options = ''] = line.split(' ')
    const isUsed = type === 'cgroup2' || (type === 'cgroup' && options.includes('name=systemd'))
    return isUsed ? [join(at, name)] : []
  })
  return {
    inside: ['sh', '-ec', ENTER, 'sh', ...folders, '--'],
    remove: () => folders.forEach(removeFolder),
  }
}

/** The kernel's files in it go with it. */
function removeFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeFolder(join(folder, entry.name))
  }
  rmdirSync(folder)
}
