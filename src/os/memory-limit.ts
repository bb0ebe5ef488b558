import { dirname, join } from 'node:path'
import { fileText } from './file-text.ts'

/** Kernel file systems, and the process to look up. */
interface Kernel {
  proc: string
  sys: string
  /** `self`, or a number. */
  pid: string
}

/** Memory that a process may use before the kernel ends or throttles it: the minimum over its control groups and
 *  their parents, and seven eighths of the machine. Infinity if the kernel reports nothing. cgroups(7) */
export function memoryLimit({ proc, sys, pid }: Kernel = { proc: '/proc', sys: '/sys', pid: 'self' }): number {
  const total = /^MemTotal:\s+(\d+) kB/m.exec(fileText(join(proc, 'meminfo')))?.[1]
  const machine = total === undefined ? Number.POSITIVE_INFINITY : (Number(total) * 1024 * 7) / 8
  return Math.min(machine, ...groupsOf(fileText(join(proc, pid, 'cgroup')), sys).map(limitOf))
}

/** Directories of all control groups of the process and their parents: `0::/a/b` is of the unified hierarchy,
 *  `4:memory:/a/b` of version 1. If the path does not exist, it belongs to another name space, and the root of ours
 *  is used. */
function groupsOf(text: string, sys: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (path === undefined) return []
    if (controllers === '') return [...lineage(path)].map((each) => join(sys, 'fs/cgroup', each))
    if (!controllers?.split(',').includes('memory')) return []
    return [...lineage(path)].map((each) => join(sys, 'fs/cgroup/memory', each))
  })
}

/** `/a/b` → `/a/b`, `/a`, `/`. */
function* lineage(path: string): Generator<string> {
  for (let at = path; ; at = dirname(at)) {
    yield at
    if (at === '/') return
  }
}

/** `memory.high` is not a hard limit, but the kernel throttles a process above it heavily. */
function limitOf(group: string): number {
  const limits = ['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((name) =>
    fileText(join(group, name)).trim(),
  )
  return Math.min(...limits.map((text) => (/^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY)))
}
