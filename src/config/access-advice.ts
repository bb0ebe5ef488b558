import { type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A file or folder that this process may not use → one line: who the process is, who owns the file and what to do.
 *  Numbers instead of names, because a container has no names for the users of its host. If the file cannot be looked up, it
 *  is about the closest folder above it that can. Never throws. */
export function accessAdvice(path: string): string {
  const [at, found] = closest(path)
  return found === null ? accessFacts(path) : `${accessFacts(path)}. ${remedy(at, found)}`
}

/** The same without what to do. */
export function accessFacts(path: string): string {
  const [at, found] = closest(path)
  if (found === null) return `permission denied: ${processWords()}`
  const mode = (found.mode & 0o7777).toString(8).padStart(3, '0')
  return `permission denied: ${processWords()}, ${at} belongs to uid ${found.uid} and gid ${found.gid} (mode ${mode})`
}

/** `this process has uid 999 and gid 999`. */
export function processWords(): string {
  const [uid, gid] = ids()
  return `this process has uid ${uid} and gid ${gid}`
}

const ids = () => [process.geteuid?.() ?? 0, process.getegid?.() ?? 0] as const

function remedy(at: string, found: Stats): string {
  const { uid: owner, gid: group, mode } = found
  const [uid, gid] = ids()
  if (owner !== uid) {
    return `Run it as the owner (in a container: --user ${owner}:${group}), or change the owner: chown -R ${uid}:${gid} ${at}`
  }
  const needed = found.isDirectory() ? 0o700 : 0o600
  if ((mode & needed) !== needed) return `Give the owner its rights: chmod u+rwX ${at}`
  return 'A security module may forbid it. With SELinux, mount the volume of a container with :Z'
}

function closest(path: string): [string, Stats | null] {
  for (let at = path; ; at = dirname(at)) {
    try {
      return [at, statSync(at)]
    } catch {
      if (at === dirname(at)) return [at, null]
    }
  }
}
