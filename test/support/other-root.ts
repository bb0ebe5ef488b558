import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './real-tools.ts'

/** Runs a shell command as root in a root directory of its own: this machine's files, read and changed as if they were
 *  copied (overlayfs), but for the folders of a Postrider, in a process tree of its own. `files` are added before, by their paths there; `mounted` is a
 *  folder that is at /mnt there. Everything is gone afterwards → exit code and output. */
export async function inOtherRoot(
  folder: string,
  command: string,
  options: { files: Record<string, { text: string; mode: number }>; mounted: string },
): Promise<{ exitCode: number; output: string }> {
  const place = join(folder, 'other-root')
  for (const [path, { text, mode }] of Object.entries(options.files)) {
    const file = join(folder, 'other-files', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode })
  }
  mkdirSync(place, { recursive: true })
  const args = [place, join(folder, 'other-files'), options.mounted, command]
  return run(['unshare', '--mount', '--pid', '--uts', '--fork', '--kill-child', 'sh', '-euc', ENTER, 'sh', ...args])
}

const ENTER = `
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay none -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs none "$1/root/run"
mount --bind "$3" "$1/root/mnt"
rm -rf "$1/root/etc/postrider" "$1/root/var/lib/postrider"
cp -a --no-preserve=ownership "$2/." "$1/root/"
exec chroot "$1/root" sh -c "$4"
`
