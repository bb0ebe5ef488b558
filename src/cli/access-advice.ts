import { type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A file or folder that this process may not use → one line: who the process is, who owns the file and what to do.
 *  Numbers instead of names, because a container has no names for the users of its host. If the file cannot be looked up, it
 *  is about the closest folder above it that can. Never throws. */
export function accessAdvice(path: string): string {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0]
  const [at, found] = closest(path)
  if (found === null) return `permission denied. This process has uid ${uid} and gid ${gid}`
  const mode = (found.mode & 0o7777).toString(8).padStart(3, '0')
  const who = `this process has uid ${uid} and gid ${gid}, ${at} belongs to uid ${found.uid} and gid ${found.gid} (mode ${mode})`
  return `permission denied: ${who}. ${remedy(at, found, uid, gid)}`
}

function remedy(at: string, { uid: owner, gid: group, mode }: Stats, uid: number, gid: number): string {
  if (owner !== uid) {
    return `Run it as the owner (in a container: --user ${owner}:${group}), or change the owner: chown -R ${uid}:${gid} ${at}`
  }
  if ((mode & OWNER_MAY) !== OWNER_MAY) return `Give the owner its rights: chmod u+rwX ${at}`
  return 'A security module may forbid it. With SELinux, mount the volume of a container with :Z'
}

const OWNER_MAY = 0o600

function closest(path: string): [string, Stats | null] {
  for (let at = path; ; at = dirname(at)) {
    try {
      return [at, statSync(at)]
    } catch {
      if (at === dirname(at)) return [at, null]
    }
  }
}
