import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folders of the kernel, and of which process. */
interface Kernel {
  proc: string
  sys: string
  /** `self`, or a number. */
  pid: string
}

/** How much a process may have in memory before the kernel ends it or slows it down: the least of what its control groups
 *  grant, each of which is bound by those above it, and seven eighths of the machine, whose rest is for others. Infinity
 *  where the kernel tells nothing. cgroups(7) */
export function memoryLimit({ proc, sys, pid }: Kernel = { proc: '/proc', sys: '/sys', pid: 'self' }): number {
  const total = /^MemTotal:\s+(\d+) kB/m.exec(textOf(join(proc, 'meminfo')))?.[1]
  const machine = total === undefined ? Number.POSITIVE_INFINITY : (Number(total) * 1024 * 7) / 8
  return Math.min(machine, ...groupsOf(textOf(join(proc, pid, 'cgroup')), sys).map(limitOf))
}

/** The folders of all its groups, those above them included: `0::/a/b` is one of the unified hierarchy, `4:memory:/a/b` of
 *  the earlier one. A path that is not there is that of another name space: then the root of ours is looked at. */
function groupsOf(text: string, sys: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (path === undefined) return []
    if (controllers === '') return [...lineage(path)].map((each) => join(sys, 'fs/cgroup', each))
    if (!controllers!.split(',').includes('memory')) return []
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

/** `memory.high` is no wall, but a process above it hardly gets on. */
function limitOf(group: string): number {
  const limits = ['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((name) => textOf(join(group, name)).trim())
  return Math.min(...limits.map((text) => (/^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY)))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
