import { execFileSync } from 'node:child_process'

/** Addresses of Debian mirrors without a slash at the end: DEBIAN_MIRROR, separated by spaces, or those of this machine's apt.
 *  A mirror has current packages only; for an older commit, DEBIAN_MIRROR is a folder of Debian's archive of snapshots. */
export function debianMirrors(): string[] {
  const given = process.env.DEBIAN_MIRROR?.split(' ').filter((each) => each !== '') ?? []
  const found = given.length > 0 ? given : mirrorsOfApt()
  if (found.length === 0) throw new Error('found no Debian mirror; set DEBIAN_MIRROR to the address of one')
  return found.map((each) => each.replace(/\/$/, ''))
}

/** Without those of other distributions. */
function mirrorsOfApt(): string[] {
  const args = ['indextargets', '--format', '$(ORIGIN) $(REPO_URI)', 'Created-By: Packages']
  const lines = execFileSync('apt-get', args, { encoding: 'utf8' }).split('\n')
  const ofDebian = lines.flatMap((line) => /^Debian (\S+)$/.exec(line)?.[1] ?? [])
  return [...new Set(ofDebian)]
}
