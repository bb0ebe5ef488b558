import { chmodSync, copyFileSync, existsSync, lchownSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../../config/load.ts'
import type { HeldCounts } from '../../model/held.ts'
import { systemClock } from '../../os/clock.ts'
import { LOCK_FILE } from '../../storage/sqlite/lock.ts'
import { openStore } from '../../storage/sqlite/open.ts'
import { requireConfig } from '../cli-context.ts'
import { CommandFailure, configFailure, usageFault } from '../failure.ts'
import { makeFolder, writeNew } from '../init-files.ts'
import { asOwnerOf, type Owner, ownerOf, requireSafePath } from '../owner-rights.ts'
import { type Prompt, terminalPrompt } from '../prompt.ts'
import { requireUnserved } from '../serving.ts'
import type { Archive } from './archive.ts'
import { CONFIG_FILE, DATABASE, DUMP, lastOf, REFERENCE } from './manifest.ts'
import { requireDatabaseFor, restoreDump } from './postgres.ts'
import { QUEUES } from './release.ts'
import { printRestored, type RestoredPlace } from './restored.ts'
import { SIGNING_KEY_FILE } from './signature.ts'
import { openStagingDir } from './staging-dir.ts'
import { isEmpty, stagingParentFor, swapIn } from './swap.ts'
import { requireTrueName, stampOf } from './target.ts'
import { type TrustOptions, trustOf } from './trust.ts'
import { openBackup, syncAll, unpack } from './unpack.ts'

interface Options extends TrustOptions {
  replace?: true
  sealKey?: string
  sendQueued?: true
  discardQueued?: true
  json?: true
}

/** Checks a whole backup and, without `verify`, replaces a data directory that no server uses.
 *
 *  Changed      refuses a backup that no key of the operator signed, unless `unauthenticated`; see trustOf
 *  Interrupted  the data directory is unchanged; the next restore removes leftovers
 *  Damaged      the same: it reads and checks the whole backup before it replaces anything
 *  As root      works with the rights of the data directory's owner, who could otherwise swap in symbolic links
 *  Sent twice   mail that was queued in the backup may have been sent since: it is on hold until the operator decides
 *               (release.ts); `sendQueued` and `discardQueued` decide immediately
 *
 *  Throws CommandFailure for a damaged backup, invalid options, a data directory in use (exit code 3), or one that is
 *  not empty without `replace`. */
export async function restore(from: string, options: Options): Promise<void> {
  if (options.verify && (options.replace || options.sendQueued || options.discardQueued)) {
    throw usageFault('--verify changes nothing. Do not combine it with --replace, --send-queued or --discard-queued.')
  }
  const archive = await openBackup(from, options.config, trustOf(options))
  if (archive.isAuthenticated) requireTrueName(from, Date.parse(archive.manifest.made_at))
  const sealKey = options.sealKey === undefined ? null : readFileSync(options.sealKey)
  if (options.verify) return verify(archive, sealKey, options)
  const wanted = await placeFor(archive, options, terminalPrompt(!options.json))
  const done = await putInPlace(archive, sealKey, requireFree(wanted, options), options)
  if (wanted.newConfig !== null) writeConfig(options.config, wanted.newConfig)
  const held = lastOf(archive.manifest) === DUMP ? await restoreDumpIn(wanted.dataDir, archive, options) : done.held
  printRestored({ archive, place: wanted, ...done, held }, options)
}

/** The dump stays if it cannot be restored. */
async function restoreDumpIn(dataDir: string, archive: Archive, options: Options): Promise<HeldCounts> {
  const file = join(dataDir, DUMP)
  const held = await restoreDump(file, archive, options)
  rmSync(file)
  return held
}

/** Root keeps its rights only in a staging folder beside the data directory, whose parent belongs to root. In the data
 *  directory and its replacement, root works with the rights of the owner. */
async function putInPlace(
  archive: Archive,
  sealKey: Buffer | null,
  { dataDir, stagingParent }: Place,
  options: Options,
) {
  requireSafePath(dataDir)
  const owner = ownerOf(dataDir)
  const asOwner = <T>(work: () => Promise<T>) => asOwnerOf(dataDir, work)
  const isRootOwned = stagingParent !== dataDir && process.geteuid?.() === 0 && ownerOf(stagingParent).uid === 0
  const outside = <T>(work: () => Promise<T>) => (isRootOwned ? work() : asOwner(work))

  // Does not create the lock file: one that belongs to root would prevent the server from starting.
  const lock = await asOwner(async () => (existsSync(join(dataDir, LOCK_FILE)) ? requireUnserved(dataDir) : null))
  try {
    return await outside(async () => {
      const staging = openStagingDir(stagingParent, 'restore')
      try {
        const folder = join(staging.folder, 'data')
        mkdirSync(folder, { mode: 0o700 })
        if (isRootOwned) giveStagingDir(staging.folder, folder, owner)
        const found = await asOwner(() => unpackInto(folder, archive, sealKey, options))
        await asOwner(async () => keepSigningKey(dataDir, folder))
        const replaced = swapIn(folder, dataDir, { stagingParent, stamp: stampOf(systemClock.now()) })
        return { ...found, replaced }
      } finally {
        staging.remove()
      }
    })
  } finally {
    await asOwner(async () => lock?.release())
  }
}

/** The key of a data directory stays, so that the operator's copy of its public key remains valid. */
function keepSigningKey(from: string, to: string): void {
  if (!lstatSync(join(from, SIGNING_KEY_FILE), { throwIfNoEntry: false })?.isFile()) return
  copyFileSync(join(from, SIGNING_KEY_FILE), join(to, SIGNING_KEY_FILE))
  syncAll(to, [SIGNING_KEY_FILE])
}

/** Gives a folder to the owner of the data. It is new and its parent belongs to root, so nobody can
 *  have replaced it. */
function giveStagingDir(staging: string, folder: string, { uid, gid }: Owner): void {
  lchownSync(folder, uid, gid)
  chmodSync(staging, 0o711) // traversable
}

async function unpackInto(folder: string, archive: Archive, sealKey: Buffer | null, options: Options) {
  const checked = await unpack(archive, folder, { sealKey, isRestored: true })
  const last = lastOf(archive.manifest)
  const held = last === DATABASE ? await decideQueued(folder, archive, options) : null
  if (last === REFERENCE) rmSync(join(folder, last))
  const names = [...archive.small.map(({ name }) => name).filter((name) => name !== CONFIG_FILE), last]
  syncAll(
    folder,
    names.filter((name) => name !== REFERENCE),
  )
  return { checked, held }
}

/** Checks the whole backup in a temporary folder. */
async function verify(archive: Archive, sealKey: Buffer | null, options: Options): Promise<void> {
  const staging = openStagingDir(tmpdir(), 'verify')
  try {
    const checked = await unpack(archive, staging.folder, { sealKey })
    printRestored({ archive, checked, held: null, place: null, replaced: null }, options)
  } finally {
    staging.remove()
  }
}

interface Place extends RestoredPlace {
  stagingParent: string
}

/** The data directory to restore to: `to`, or the config's data_dir. Without either: the data_dir of the backup's
 *  config, after confirmation at the terminal, since an untrusted backup must not choose where root writes. `newConfig`
 *  is the backup's config, to be installed if there is none and it names the same folder. */
async function placeFor(archive: Archive, options: Options, ask: Prompt | null): Promise<RestoredPlace> {
  const to = options.to === undefined ? null : resolve(options.to)
  if (existsSync(options.config)) {
    const config = requireConfig(options.config)
    await requireSameKind(archive, config)
    return { dataDir: to ?? config.dataDir, newConfig: null }
  }
  const text = archive.small.find(({ name }) => name === CONFIG_FILE)?.bytes.toString()
  if (to !== null) {
    if (text === undefined) return { dataDir: to, newConfig: null }
    const named = readConfig({ text, file: options.config, env: process.env }).config
    return { dataDir: to, newConfig: named?.dataDir === to ? text : null }
  }
  if (text === undefined) throw usageFault(`${options.config}: file not found. Choose the data directory with --to`)
  const read = readConfig({ text, file: options.config, env: process.env })
  if (read.config === undefined) throw configFailure(read.faults)
  const { dataDir } = read.config
  const answer = await ask?.(
    `${options.config} does not exist. The backup uses the data directory ${dataDir}. Restore there? [y/N] `,
  )
  if (answer === undefined || !/^y(?:es)?$/i.test(answer)) {
    throw usageFault(
      `${options.config}: file not found. To restore to the backup's data directory, use --to ${dataDir}`,
    )
  }
  return { dataDir, newConfig: text }
}

/** The config names a database of the kind that the backup has; one for a dump is empty. */
async function requireSameKind({ manifest }: Archive, config: Config): Promise<void> {
  const last = lastOf(manifest)
  if (last !== DATABASE) return requireDatabaseFor(config, last === DUMP)
  if (config.database.url === '') return
  throw usageFault('the backup is of an installation with SQLite, and database.url names a PostgreSQL database.')
}

function requireFree(place: RestoredPlace, { replace }: Options): Place {
  const { dataDir } = place
  if (!replace && !isEmpty(dataDir)) {
    throw new CommandFailure(
      `${dataDir} is not empty. Use --replace to replace it; the old directory is renamed and kept.`,
    )
  }
  return { ...place, stagingParent: stagingParentFor(dataDir) }
}

/** Puts the queued mail of the backup on hold, discards it with `discardQueued`, and returns the counts on hold. With
 *  `sendQueued`: null, and the server sends the mail. */
async function decideQueued(folder: string, archive: Archive, options: Options): Promise<HeldCounts | null> {
  const now = systemClock.now()
  const store = await openStore({ dataDir: folder, now })
  try {
    await store.held.noteRestored({ restoredAt: now, madeAt: Date.parse(archive.manifest.made_at) })
    if (options.sendQueued) return null
    await store.held.hold()
    if (options.discardQueued) for (const queue of QUEUES) await store.held.discard(queue, now)
    return await store.held.count()
  } finally {
    await store.close()
  }
}

/** Fails if a config has appeared in the meantime. */
function writeConfig(file: string, text: string): void {
  makeFolder(dirname(file))
  writeNew(file, text, { mode: 0o640 })
}
