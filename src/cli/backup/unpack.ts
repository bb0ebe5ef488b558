import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { systemClock } from '../../os/clock.ts'
import { writeNewFile } from '../../os/new-file.ts'
import { sync } from '../../os/sync.ts'
import { ENCRYPTION_KEY_FILE } from '../../storage/encryption-key.ts'
import { inspectDatabase } from '../../storage/sqlite/inspect.ts'
import { openStore } from '../../storage/sqlite/open.ts'
import type { Store } from '../../storage/store.ts'
import { CommandFailure } from '../failure.ts'
import { recordAsOperator } from '../operator-entry.ts'
import { type Archive, openArchive, toBackupFailure } from './archive.ts'
import { bucketPlaceOf, openBucket } from './bucket.ts'
import { CONFIG_FILE, DATABASE, lastOf } from './manifest.ts'
import { composeSample } from './sample.ts'
import { requireFreeSpace } from './staging-dir.ts'
import type { Trust } from './trust.ts'

/** Number of secrets and messages that the check of a backup covered. */
export interface Checked {
  secrets: number
  /** Messages composed and signed as a sample. */
  composed: number
}

/** Opens a backup file, also at s3://bucket/, or standard input for `-`. Throws CommandFailure if it is not a backup, is
 *  damaged or not signed with a trusted key, and file system errors. `configFile` has the access to object storage. */
export async function openBackup(from: string, configFile: string, trust: Trust): Promise<Archive> {
  return openArchive(await bytesOf(from, configFile), trust).catch((thrown: unknown) => {
    throw toBackupFailure(thrown)
  })
}

async function bytesOf(from: string, configFile: string): Promise<Readable> {
  if (from === '-') return createReadStream('', { fd: 0 })
  const place = bucketPlaceOf(from)
  if (place !== null) return openBucket(place.bucket, configFile).read(place.key)
  statSync(from) // throws with the name of a missing file
  return createReadStream(from, { highWaterMark: 1024 * 1024 })
}

/** Unpacks a backup into an empty folder, migrates it to the current schema and checks everything: hashes, database
 *  pages, references, secrets and sample messages. `sealKey` is the key for a backup made without it. With
 *  `isRestored` it adds the restore to the audit log. Returns null for an installation with PostgreSQL. Throws
 *  CommandFailure if the backup is damaged, the key is missing or the disk is too small, and the errors of opening a
 *  store. */
export async function unpack(
  archive: Archive,
  folder: string,
  options: { sealKey: Buffer | null; isRestored?: true },
): Promise<Checked | null> {
  const { manifest, small } = archive
  requireFreeSpace(
    folder,
    manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    'The backup',
  )
  for (const { name, bytes } of small) if (name !== CONFIG_FILE) put(folder, name, bytes)
  if (!small.some(({ name }) => name === ENCRYPTION_KEY_FILE)) {
    if (options.sealKey === null) {
      throw new CommandFailure(`the backup does not contain ${ENCRYPTION_KEY_FILE}. Provide that file with --seal-key`)
    }
    put(folder, ENCRYPTION_KEY_FILE, options.sealKey)
  }
  const file = join(folder, lastOf(manifest))
  await pipeline(archive.database(), writeNewFile(file, 0o600, 'wx')).catch((thrown: unknown) => {
    throw toBackupFailure(thrown)
  })
  // The database of such an installation is checked when it is restored.
  if (lastOf(manifest) !== DATABASE) return null
  const { secrets } = inspectDatabase(folder, file)
  const store = await openStore({ dataDir: folder, now: systemClock.now() })
  try {
    const composed = await composeSample(store)
    if (options.isRestored) await recordRestore(store, archive)
    return { secrets, composed }
  } finally {
    await store.close()
  }
}

/** Writes a folder, these files in it and their folders to disk. Throws file system errors. */
export function syncAll(folder: string, names: readonly string[]): void {
  for (const name of names) sync(join(folder, name))
  for (const path of new Set(names.map((name) => dirname(join(folder, name))))) sync(path)
  sync(folder)
}

function put(folder: string, name: string, bytes: Buffer): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, name), bytes, { flag: 'wx', mode: 0o600 })
}

/** Adds a restore to the audit log, with the time of the backup and whether Postrider has checked who made it. */
export function recordRestore(store: Store, { manifest, isAuthenticated }: Archive): Promise<void> {
  const fields = isAuthenticated ? [] : ['unauthenticated']
  return recordAsOperator(store, { action: 'restore', resourceId: manifest.made_at, fields })
}
