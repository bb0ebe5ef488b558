import { chmodSync, existsSync, lchownSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readConfig } from '../../config/load.ts'
import { systemClock } from '../../os/clock.ts'
import { LOCK_FILE, lockDataDir } from '../../storage/sqlite/lock.ts'
import { openStore } from '../../storage/sqlite/open.ts'
import { asOwnerOf, type Owner, ownerOf, requireSafeWay } from '../as-owner.ts'
import { type Ask, terminalAsk } from '../ask.ts'
import { CommandFailure, configFailure, EXIT, usageFault } from '../failure.ts'
import { makeFolder, writeNew } from '../init-files.ts'
import { requireConfig } from '../office.ts'
import type { Archive } from './archive.ts'
import { CONFIG_FILE, DATABASE } from './manifest.ts'
import { QUEUES } from './release.ts'
import { type Counts, type RestoredPlace, tellRestored } from './restored.ts'
import { isEmpty, swapIn, workplaceFor } from './swap.ts'
import { stampOf } from './target.ts'
import { openBackup, syncAll, unpack } from './unpack.ts'
import { openWorkshop } from './workshop.ts'

interface Options {
  config: string
  to?: string
  verify?: true
  replace?: true
  sealKey?: string
  sendQueued?: true
  discardQueued?: true
  json?: true
}

/** Looks at a whole backup and, unless that is all, puts it in place of a data directory that nobody serves.
 *
 *  Cut off     the data directory is what it was; what lies around is removed by the next restore
 *  Damaged     the same: it is all read and looked at before anything is replaced
 *  As root     it works with the rights of the owner of the data directory, who could otherwise exchange names on the way
 *  Sent twice  what waited when the backup was made is held until the operator decides (release.ts): it may have been sent
 *              since. `sendQueued` and `discardQueued` decide now. */
export async function restore(from: string, options: Options): Promise<void> {
  if (options.verify && (options.replace || options.sendQueued || options.discardQueued)) {
    throw usageFault('--verify changes nothing: leave out the others')
  }
  const archive = await openBackup(from)
  const sealKey = options.sealKey === undefined ? null : readFileSync(options.sealKey)
  if (options.verify) return verify(archive, sealKey, options)
  const wanted = await placeFor(archive, options, terminalAsk(!options.json))
  const done = await putInPlace(archive, sealKey, requireFree(wanted, options), options)
  if (wanted.newConfig !== null) writeConfig(options.config, wanted.newConfig)
  tellRestored({ manifest: archive.manifest, place: wanted, ...done }, options)
}

/** Beside the data directory root works as root, in a folder where nobody else has names; in the data directory, and in what
 *  is to be it, only with the rights of its owner. */
async function putInPlace(archive: Archive, sealKey: Buffer | null, { dataDir, workplace }: Place, options: Options) {
  requireSafeWay(dataDir)
  const owner = ownerOf(dataDir)
  const asOwner = <T>(work: () => Promise<T>) => asOwnerOf(dataDir, work)
  const isRootsPlace = workplace !== dataDir && process.geteuid?.() === 0 && ownerOf(workplace).uid === 0
  const outside = <T>(work: () => Promise<T>) => (isRootsPlace ? work() : asOwner(work))

  const release = await asOwner(async () => requireUnserved(dataDir))
  try {
    return await outside(async () => {
      const workshop = openWorkshop(workplace, 'restore')
      try {
        const folder = join(workshop.folder, 'data')
        mkdirSync(folder, { mode: 0o700 })
        if (isRootsPlace) giveWorkplace(workshop.folder, folder, owner)
        const found = await asOwner(() => unpackInto(folder, archive, sealKey, options))
        const replaced = swapIn(folder, dataDir, { workplace, stamp: stampOf(systemClock.now()) })
        return { ...found, replaced }
      } finally {
        workshop.remove()
      }
    })
  } finally {
    await asOwner(async () => release())
  }
}

/** A folder that was just made where only root has names. */
function giveWorkplace(workshop: string, folder: string, { uid, gid }: Owner): void {
  lchownSync(folder, uid, gid)
  chmodSync(workshop, 0o711) // to pass through
}

async function unpackInto(folder: string, archive: Archive, sealKey: Buffer | null, options: Options) {
  const checked = await unpack(archive, folder, { sealKey, restoredFrom: archive.manifest.made_at })
  const held = await decideQueued(folder, archive, options)
  syncAll(folder, [...archive.small.map(({ name }) => name).filter((name) => name !== CONFIG_FILE), DATABASE])
  return { checked, held }
}

/** Looks at all of it in a folder that goes again. */
async function verify(archive: Archive, sealKey: Buffer | null, options: Options): Promise<void> {
  const workshop = openWorkshop(tmpdir(), 'verify')
  try {
    const checked = await unpack(archive, workshop.folder, { sealKey })
    tellRestored({ manifest: archive.manifest, checked, held: null, place: null, replaced: null }, options)
  } finally {
    workshop.remove()
  }
}

interface Place extends RestoredPlace {
  workplace: string
}

/** `--to`, or what the config says. Where there is neither, what the backup's config says, once somebody at the terminal
 *  agrees: a backup may come from anybody, and would otherwise choose where root writes. The backup's config is put in place
 *  where there is none and it names that very folder. */
async function placeFor(archive: Archive, options: Options, ask: Ask | null): Promise<RestoredPlace> {
  const to = options.to === undefined ? null : resolve(options.to)
  if (existsSync(options.config)) return { dataDir: to ?? requireConfig(options.config).dataDir, newConfig: null }
  const text = archive.small.find(({ name }) => name === CONFIG_FILE)?.bytes.toString()
  if (to !== null) {
    const named = text === undefined ? undefined : readConfig({ text, file: options.config, env: process.env }).config
    return { dataDir: to, newConfig: named?.dataDir === to ? text! : null }
  }
  if (text === undefined) throw usageFault(`${options.config}: there is no such file; name a folder with --to`)
  const read = readConfig({ text, file: options.config, env: process.env })
  if (read.config === undefined) throw configFailure(read.faults)
  const { dataDir } = read.config
  const answer = await ask?.(
    `There is no ${options.config}. The backup names the folder ${dataDir}. Restore into it? [y/N] `,
  )
  if (answer === undefined || !/^y(?:es)?$/i.test(answer)) {
    throw usageFault(
      `${options.config}: there is no such file; the backup names ${dataDir}, confirm with --to ${dataDir}`,
    )
  }
  return { dataDir, newConfig: text }
}

function requireFree(place: RestoredPlace, { replace }: Options): Place {
  const { dataDir } = place
  if (!replace && !isEmpty(dataDir)) {
    throw new CommandFailure(`${dataDir} is not empty: --replace puts the backup in its place and keeps it beside it`)
  }
  return { ...place, workplace: workplaceFor(dataDir) }
}

/** Nobody serves it, nor begins to until `release` is called. */
function requireUnserved(dataDir: string): () => void {
  // Not made here: root's would keep a server that is not root from starting.
  if (!existsSync(join(dataDir, LOCK_FILE))) return () => {}
  const lock = lockDataDir(dataDir)
  if (lock === null) throw new CommandFailure(`a server runs on ${dataDir}: stop it first`, EXIT.inUse)
  return lock.release
}

/** What waited in the backup → how much of it is held, unless the operator said at once what becomes of it. Null: it goes on by
 *  itself. */
async function decideQueued(folder: string, archive: Archive, options: Options): Promise<Counts | null> {
  const now = systemClock.now()
  const store = await openStore({ dataDir: folder, now })
  try {
    await store.held.noteRestored({ restoredAt: now, madeAt: Date.parse(archive.manifest.made_at) })
    if (options.sendQueued) return null
    await store.held.hold()
    if (options.discardQueued) for (const queue of QUEUES) await store.held.discard(queue)
    return await store.held.count()
  } finally {
    await store.close()
  }
}

/** Never over one that came meanwhile. */
function writeConfig(file: string, text: string): void {
  makeFolder(dirname(file))
  writeNew(file, text, { mode: 0o640 })
}
