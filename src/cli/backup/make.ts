import { once } from 'node:events'
import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync, renameSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { iso } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import { noteBackup } from '../../os/last-backup.ts'
import { sync } from '../../os/sync.ts'
import { errorCode, messageOf } from '../../os/thrown.ts'
import { requireNotMoved } from '../../storage/moving/moved.ts'
import { type Copied, copyDatabase } from '../../storage/sqlite/copy.ts'
import { describeDatabase } from '../../storage/sqlite/inspect.ts'
import { VERSION } from '../../version.ts'
import { requireConfig } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { print, printError } from '../print.ts'
import { hashOf, writeArchive } from './archive.ts'
import { type Bucket, bucketPlaceOf, openBucket } from './bucket.ts'
import { type SmallFile, smallFiles } from './contents.ts'
import { DATABASE, FORMAT, type Manifest } from './manifest.ts'
import { backUpDatabase, describePostgres } from './postgres.ts'
import { type SigningKey, signingKeyOf } from './signature.ts'
import { mb, openStagingDir, requireFreeSpace, type StagingDir } from './staging-dir.ts'
import { dropOld, dropOldObjects, type Kept, nameOf, type Target, targetOf } from './target.ts'
import { createWritePacing } from './write-pacing.ts'

/** Makes a backup, whether or not the server runs.
 *
 *  Contents     everything acknowledged with 202 or 250 before the backup started, as one consistent snapshot; with
 *               PostgreSQL config, keys and certificates, and with `dump` also what pg_dump writes
 *  Signature    with the key of the data directory, which the first backup creates
 *  Interrupted  the target is unchanged; the next backup removes leftovers
 *  Disk full    the same; throws CommandFailure
 *
 *  It runs in a process of its own with the lowest priority. The server's write-ahead log grows only while the database
 *  is copied, not while the copy is compressed. Without a target it writes to the folder of the config. With `ifNetwork` it
 *  does nothing if the backup needs the network and the option says no, or the other way round. Throws CommandFailure
 *  without a database or enough disk space, and for an invalid target. Rejects with other file system errors. */
export async function backup(
  given: string | undefined,
  options: { config: string; key: boolean; keep?: number; dump?: true; ifNetwork?: 'yes' | 'no'; json?: true },
): Promise<void> {
  const config = requireConfig(options.config)
  const to = given ?? config.backup.to
  const keep = options.keep ?? (given === undefined ? config.backup.keep : undefined)
  if (options.ifNetwork !== undefined && needsNetwork(to, config) !== (options.ifNetwork === 'yes')) {
    return printSkipped(to, options)
  }
  const isSqlite = config.database.url === ''
  if (isSqlite) requireNotMoved(config.dataDir)
  if (isSqlite && options.dump) throw usageFault('--dump is for PostgreSQL, and database.url is not set.')
  const madeAt = systemClock.now()
  const target = targetOf(to, { madeAt, dataDir: config.dataDir, keep })
  lowerPriority()
  const bucket = target.object === null ? null : openBucket(target.object.bucket, options.config)
  const staging = openStagingDir(target.stagingParent, 'backup')
  try {
    const name = isSqlite ? DATABASE : await backUpDatabase(config, staging.folder, options.dump === true)
    const database = join(staging.folder, name)
    const copied = isSqlite
      ? await copy(config, database, target)
      : { bytes: statSync(database).size, logBytes: NO_LOG }
    const small = smallFiles({ config: options.config, dataDir: config.dataDir, withKey: options.key })
    const manifest = await manifestOf({ config, madeAt, small, database })
    const signingKey = signingKeyOf(config.dataDir)
    const bytes = await write(target, { staging, bucket }, { manifest, signingKey, small, database })
    noteBackup(config.dataDir, { madeAt, bytes, to: nameOf(target), signedBy: signingKey.publicKey })
    const removed = keep === undefined ? [] : await removeOld(to, { keep, madeAt }, bucket)
    const isPrinted = target.file === null && target.object === null
    const record = {
      file: isPrinted ? null : nameOf(target),
      bytes,
      made_at: manifest.made_at,
      instance_id: manifest.instance_id,
      schema: manifest.schema,
      with_key: options.key,
      signed_by: signingKey.publicKey,
      files: manifest.files.map(({ name }) => name),
      database_bytes: copied.bytes,
      log_bytes_before: copied.logBytes.before,
      log_bytes_after: copied.logBytes.after,
      took_ms: systemClock.now() - madeAt,
      removed,
    }
    const printLine = isPrinted ? printError : print
    printLine(options.json ? JSON.stringify(record) : summary(record, signingKey))
  } finally {
    staging.remove()
  }
}

/** Whether another machine is asked: the service of the bucket, or PostgreSQL. */
const needsNetwork = (to: string, { database }: Config) => bucketPlaceOf(to) !== null || database.url !== ''

function printSkipped(to: string, { ifNetwork, json }: { ifNetwork?: 'yes' | 'no'; json?: true }): void {
  const why = ifNetwork === 'no' ? 'needs the network' : 'needs no network'
  const text = `No backup was made: the one to ${to} ${why}. The other service of the timer makes it.`
  print(json ? JSON.stringify({ file: null, is_skipped: true }) : text)
}

const NO_LOG = { before: 0, after: 0 }

async function copy({ dataDir }: Config, to: string, target: Target): Promise<Copied> {
  const source = join(dataDir, DATABASE)
  const found = statSync(source, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailure(`${source}: no database. Create it with: postrider init`)
  // Space for the copy and for the archive, which is at most slightly larger.
  requireFreeSpace(target.stagingParent, found.size * (target.file === null ? 1 : 2), 'The backup')
  const handle = openSync(to, 'wx', 0o600)
  const copying = copyDatabase(source, to, createWritePacing(handle)).finally(() => closeSync(handle))
  return copying.catch((thrown: unknown) => {
    const code = errorCode(thrown) ?? ''
    if (!/^SQLITE_(FULL|IOERR)/.test(code)) throw thrown
    throw new CommandFailure(`${target.stagingParent}: cannot copy the database: ${messageOf(thrown)}`)
  })
}

async function manifestOf(of: {
  config: Config
  madeAt: number
  small: readonly SmallFile[]
  database: string
}): Promise<Manifest> {
  const isSqlite = basename(of.database) === DATABASE
  const { schema, instanceId } = isSqlite ? describeDatabase(of.database) : await describePostgres(of.config)
  return {
    format: FORMAT,
    program: VERSION,
    schema,
    made_at: iso(of.madeAt),
    instance_id: instanceId,
    hostname: of.config.hostname,
    files: [
      ...(await Promise.all(of.small.map(async (file) => ({ name: file.name, ...(await hashOf([file.bytes])) })))),
      { name: basename(of.database), ...(await hashOf(createReadStream(of.database, { highWaterMark: 1024 * 1024 }))) },
    ],
  }
}

async function removeOld(to: string, kept: Kept, bucket: Bucket | null): Promise<string[]> {
  const place = bucketPlaceOf(to)
  return bucket === null || place === null ? dropOld(to, kept) : dropOldObjects(bucket, place.key, kept)
}

/** Writes the archive and returns its size in bytes. */
async function write(
  target: Target,
  { staging, bucket }: { staging: StagingDir; bucket: Bucket | null },
  content: Parameters<typeof writeArchive>[1],
): Promise<number> {
  if (bucket !== null && target.object !== null) {
    const upload = bucket.write(target.object.key)
    try {
      await writeArchive(upload.to, content, () => {})
    } finally {
      // If it failed, it removes its parts before it closes.
      if (!upload.to.closed) await once(upload.to, 'close')
    }
    return upload.bytes()
  }
  if (target.file === null) {
    const out = createWriteStream('', { fd: 1, autoClose: false })
    await writeArchive(out, content, () => {})
    return out.bytesWritten
  }
  const draft = join(staging.folder, 'archive')
  const handle = openSync(draft, 'wx', 0o600)
  try {
    await writeArchive(createWriteStream('', { fd: handle, autoClose: false }), content, createWritePacing(handle))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(draft, target.file)
  sync(dirname(target.file))
  return statSync(target.file).size
}

/** Mail delivery has priority over backups. */
function lowerPriority(): void {
  try {
    setPriority(19)
  } catch {
    // not permitted here; continue at normal priority
  }
}

function summary(
  record: { file: string | null; bytes: number; with_key: boolean; took_ms: number; removed: string[] },
  { publicKey, isNew }: SigningKey,
) {
  const key = record.with_key ? '' : '; without seal.key, which a restore requires'
  const removed = record.removed.length === 0 ? '' : `\nremoved ${record.removed.join(', ')}`
  const seconds = (record.took_ms / 1000).toFixed(1)
  const advice = isNew
    ? `\nThis key is new. Keep that line apart from the backups: a restore on another machine needs it.`
    : ''
  return `${record.file ?? 'written to standard output'}: ${mb(record.bytes)} in ${seconds} s${key}${removed}
signed by ${publicKey}${advice}`
}
