import { chmodSync, copyFileSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sync } from '../../os/sync.ts'
import { CommandFailure } from '../failure.ts'
import type { Journal } from './journal.ts'
import { hashOfFile, type Place } from './place.ts'
import { runWell } from './run.ts'

/** Puts the new program in place of the old one, which stays as `.previous`. It can be repeated: at every moment there is a
 *  complete program. Throws CommandFailure if the new one is missing, or dpkg's error. */
export async function swapIn(place: Place, { old_sha256, new_sha256, is_package }: Journal): Promise<void> {
  const present = await hashOfFile(place.program)
  if (present === new_sha256 && !is_package) return
  if (present === old_sha256) keepAs(place.program, place.previous, place.folder)
  if (is_package) {
    // Repeats what was interrupted. The package does not restart the server: dpkg would wait for it.
    const env = { DEBIAN_FRONTEND: 'noninteractive', POSTRIDER_UPGRADE: '1' }
    await runWell('dpkg', ['dpkg', '--install', place.archive], { env })
  } else {
    await requireHash(place.staged, new_sha256)
    renameSync(place.staged, place.program)
  }
  sync(dirname(place.program))
  await requireHash(place.program, new_sha256)
}

/** Puts the old program back. Throws CommandFailure if it is no longer there. */
export async function swapBack(place: Place, { old_sha256 }: Journal): Promise<void> {
  if ((await hashOfFile(place.program)) === old_sha256) return
  await requireHash(place.previous, old_sha256)
  keepAs(place.previous, place.program, place.folder)
  sync(dirname(place.program))
}

/** Makes `to` the same file as `from` by one rename: a link, or a copy where the file system has no links. */
function keepAs(from: string, to: string, folder: string): void {
  const draft = join(folder, 'kept')
  rmSync(draft, { force: true })
  try {
    linkSync(from, draft)
  } catch {
    copyFileSync(from, draft)
    chmodSync(draft, 0o755)
    sync(draft)
  }
  renameSync(draft, to)
}

async function requireHash(file: string, sha256: string): Promise<void> {
  if ((await hashOfFile(file)) === sha256) return
  throw new CommandFailure(
    `${file} is missing or is not the expected program. Install the version that you need by hand.`,
  )
}
