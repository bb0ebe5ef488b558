import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { writeDebian } from '../../scripts/package/debian.ts'
import { commitTime } from '../../scripts/package/run.ts'
import { buildNext, buildOnce, NEXT_PROGRAM } from '../support/build-once.ts'
import { NEXT_VERSION } from '../support/next-version.ts'
import { run } from '../support/real-tools.ts'
import { addToRelease, makeReleaseKey } from '../support/release.ts'

/** What a walk installs. It is made once in dist/walk, and again when the program is newer. */
const ROOT = join(import.meta.dir, '../..')
const FOLDER = join(ROOT, 'dist/walk')
const PROGRAM = join(ROOT, 'dist/postrider')
const PACKAGES = 'systemd,systemd-sysv,dbus,ca-certificates'
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** → the files of a minimal Debian 12, a tar archive, from the mirror of this machine's apt. In memory while it is made,
 *  since dpkg waits for the disk after each file. */
export async function debianArchive(): Promise<string> {
  const archive = join(FOLDER, 'debian.tar')
  if (existsSync(archive)) return archive
  mkdirSync(join(FOLDER, 'making'), { recursive: true })
  const script = `mount -t tmpfs tmpfs "$1" && TMPDIR=$1 exec mmdebstrap --quiet --variant=minbase \
--include=${PACKAGES} bookworm "$2"`
  const unfinished = join(FOLDER, 'unfinished.tar')
  const command = ['unshare', '--mount', 'sh', '-c', script, 'sh', join(FOLDER, 'making'), unfinished]
  const { exitCode, output } = await run(command)
  if (exitCode !== 0) throw new Error(`mmdebstrap: ${output}`)
  renameSync(unfinished, archive)
  return archive
}

/** → the Debian package of the built program, as scripts/release makes it, but uncompressed. */
export async function debianPackage(): Promise<string> {
  buildOnce()
  return packageOf(PROGRAM, pkg.version, FOLDER)
}

/** → the folder of a signed release of the next version, with its signers. */
export async function nextRelease(): Promise<{ folder: string; signers: string }> {
  buildNext()
  const folder = join(FOLDER, 'release')
  const signers = join(FOLDER, 'keys/key.pub')
  if (isAsNewAs(join(folder, 'SHA256SUMS.minisig'), NEXT_PROGRAM)) return { folder, signers }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const deb = await packageOf(NEXT_PROGRAM, NEXT_VERSION, folder)
  const hash = createHash('sha256').update(readFileSync(deb)).digest('hex')
  writeFileSync(join(folder, 'SHA256SUMS'), `${hash}  ${deb.slice(folder.length + 1)}\n`)
  const key = await makeReleaseKey(join(FOLDER, 'keys'))
  await addToRelease(folder, { program: NEXT_PROGRAM, version: NEXT_VERSION, key })
  return { folder, signers }
}

/** Writes the uncompressed Debian package of a program to `out` unless there is one that is as new → its path. */
export async function packageOf(program: string, version: string, out: string): Promise<string> {
  const deb = join(out, `postrider_${version}_${ARCHITECTURE}.deb`)
  if (isAsNewAs(deb, program)) return deb
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'postrider-packaging-'))
  const making = { program, version, architecture: ARCHITECTURE, time: commitTime(), work, out }
  await writeDebian({ ...making, isCompressed: false })
  rmSync(work, { recursive: true })
  return deb
}

const isAsNewAs = (file: string, other: string) =>
  existsSync(file) && existsSync(other) && statSync(file).mtimeMs >= statSync(other).mtimeMs
