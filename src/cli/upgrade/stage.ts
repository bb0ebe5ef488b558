import { createHash } from 'node:crypto'
import { chmodSync, createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { z } from 'zod'
import { archiveOf, packageOf } from '../../operating/upgrade/versions.ts'
import { writeNewFile } from '../../os/new-file.ts'
import { sync } from '../../os/sync.ts'
import { errorCode, messageOf } from '../../os/thrown.ts'
import { requireFreeSpace } from '../backup/staging-dir.ts'
import { readTar, TarDamaged } from '../backup/tar.ts'
import { CommandFailure } from '../failure.ts'
import type { Place } from './place.ts'
import { hashOfFile } from './place.ts'
import { type Release, reading, TARGET } from './release.ts'
import { run, runWell } from './run.ts'

/** The new version of the program, unpacked in its folder and started once to see that it runs. */
export interface Staged {
  sha256: string
  /** Schema steps of the newest store that it opens. */
  newest: { sqlite: number; postgres: number }
}

const MOST_ARCHIVE_BYTES = 256 * 2 ** 20
const MOST_PROGRAM_BYTES = 512 * 2 ** 20
const PROBE_MS = 60_000
const QUERY_MS = 30_000

/** Downloads the archive of a release, or its Debian package, verifies it, unpacks the program and asks it for its version
 *  and whether it accepts the config. Throws CommandFailure with the reason; nothing outside `place.folder` was changed. */
export async function stage(
  release: Release,
  { place, config, isPackage }: { place: Place; config: string; isPackage: boolean },
): Promise<Staged> {
  const { version } = release
  const name = isPackage ? packageOf(version, TARGET) : archiveOf(version, TARGET)
  requireFreeSpace(place.folder, MOST_ARCHIVE_BYTES + MOST_PROGRAM_BYTES / 2, 'The upgrade')
  await download(release, name, place.archive)
  const [chunks, member] = isPackage
    ? [packageFiles(place.archive), './usr/bin/postrider']
    : [archiveFiles(place.archive), `${name.replace(/\.tar\.gz$/, '')}/postrider`]
  await unpackProgram(chunks, member, place.staged).catch((error: unknown) => {
    const isDamage = error instanceof TarDamaged || errorCode(error)?.startsWith('Z_')
    throw isDamage ? new CommandFailure(`${name}: ${messageOf(error)}`) : error
  })
  const newest = await probe(place.staged, version)
  const check = [place.staged, 'config', 'check', '--config', config]
  await runWell(`${version} does not accept the config`, check, { limitMs: PROBE_MS })
  return { sha256: (await hashOfFile(place.staged)) ?? '', newest }
}

/** Whether Debian's package manager installed the program: then it also installs the new one, or it would not know of it. */
export async function isOfPackage(program: string): Promise<boolean> {
  if (!program.startsWith('/usr/bin/') || !existsSync('/var/lib/dpkg') || Bun.which('dpkg-query') === null) return false
  return (await run(['dpkg-query', '--search', program], { limitMs: QUERY_MS })).code === 0
}

async function download({ source, sums }: Release, name: string, to: string): Promise<void> {
  const expected = sums.get(name)
  if (expected === undefined) throw new CommandFailure(`${source.name}: the release has no ${name}`)
  const hash = createHash('sha256')
  const hashed = async function* () {
    for await (const chunk of source.read(name, MOST_ARCHIVE_BYTES)) {
      hash.update(chunk)
      yield chunk
    }
  }
  await reading(() => pipeline(hashed, writeNewFile(to, 0o600)))
  if (hash.digest('hex') !== expected) {
    throw new CommandFailure(`${name} does not match SHA256SUMS; nothing was changed`)
  }
}

/** Bytes of the tar archive inside. */
function archiveFiles(archive: string): AsyncIterable<Uint8Array> {
  const unzip = createGunzip()
  // The reader of `unzip` gets its error.
  pipeline(createReadStream(archive, { highWaterMark: 1024 * 1024 }), unzip).catch(() => {})
  return unzip
}

async function* packageFiles(file: string): AsyncGenerator<Uint8Array> {
  const child = Bun.spawn(['dpkg-deb', '--fsys-tarfile', file], { stdout: 'pipe', stderr: 'ignore' })
  yield* child.stdout
}

/** Writes the one file `member` of an archive to `to`, executable. Nothing else is written. Throws TarDamaged unless the
 *  archive has folders and regular files only, and exactly one of that name. */
export async function unpackProgram(chunks: AsyncIterable<Uint8Array>, member: string, to: string): Promise<void> {
  const tar = readTar(chunks, { skipsFolders: true })
  let found = 0
  let bytes = 0
  for (let head = await tar.next(); head !== null; head = await tar.next()) {
    bytes += head.bytes
    if (bytes > MOST_PROGRAM_BYTES) throw new TarDamaged('the archive is too large')
    const isProgram = head.name === member
    if (isProgram && ++found > 1) throw new TarDamaged(`the archive contains ${member} twice`)
    if (isProgram) await pipeline(tar.body(), writeNewFile(to, 0o700))
    else for await (const _ of tar.body());
  }
  if (found === 0) throw new TarDamaged(`the archive does not contain ${member}`)
  chmodSync(to, 0o755)
  sync(to)
}

const steps = z.object({ oldest: z.number().int(), newest: z.number().int() })
const answer = z.object({ version: z.string(), schemas: z.object({ sqlite: steps, postgres: steps }) })

async function probe(program: string, version: string): Promise<Staged['newest']> {
  const printed = await runWell(`${version} does not run on this machine`, [program, 'version', '--json'], {
    limitMs: PROBE_MS,
  })
  const read = answer.safeParse(parsed(printed))
  if (!read.success) {
    throw new CommandFailure(`${version} does not say which stores it can open, so it cannot be installed by upgrade`)
  }
  if (read.data.version !== version) {
    throw new CommandFailure(`the archive of ${version} contains ${read.data.version}; nothing was changed`)
  }
  const { sqlite, postgres } = read.data.schemas
  return { sqlite: sqlite.newest, postgres: postgres.newest }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
