import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { systemClock } from '../../platform/clock.ts'
import { LOCK_FILE, lockDataDir } from '../../storage/sqlite/lock.ts'
import { openStore } from '../../storage/sqlite/open.ts'
import { CommandFailure, configFailure, EXIT, usageFault } from '../failure.ts'
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
 *  Sent twice  what waited when the backup was made is held until the operator decides (release.ts): it may have been sent
 *              since. `sendQueued` and `discardQueued` decide now. */
export async function restore(from: string, options: Options): Promise<void> {
  if (options.verify && (options.replace || options.sendQueued || options.discardQueued)) {
    throw usageFault('--verify changes nothing: leave out the others')
  }
  const archive = await openBackup(from)
  if (options.verify) return verify(archive, options)
  const place = placeFor(archive, options)
  const release = requireUnserved(place.dataDir)
  const workshop = openWorkshop(place.workplace, 'restore')
  try {
    const folder = join(workshop.folder, 'data')
    mkdirSync(folder, { mode: 0o700 })
    const checked = await unpack(archive, folder, { sealKey: options.sealKey, restoredFrom: archive.manifest.made_at })
    const held = await decideQueued(folder, archive, options)
    syncAll(folder, [...archive.small.map(({ name }) => name).filter((name) => name !== CONFIG_FILE), DATABASE])
    const stamp = stampOf(systemClock.now())
    const replaced = swapIn(folder, place.dataDir, { workplace: place.workplace, stamp })
    if (place.newConfig !== null) writeConfig(options.config, place.newConfig)
    tellRestored({ manifest: archive.manifest, checked, held, place, replaced }, options)
  } finally {
    workshop.remove()
    release()
  }
}

/** Looks at all of it in a folder that goes again. */
async function verify(archive: Archive, options: Options): Promise<void> {
  const workshop = openWorkshop(tmpdir(), 'verify')
  try {
    const checked = await unpack(archive, workshop.folder, { sealKey: options.sealKey })
    tellRestored({ manifest: archive.manifest, checked, held: null, place: null, replaced: null }, options)
  } finally {
    workshop.remove()
  }
}

interface Place extends RestoredPlace {
  workplace: string
}

/** `--to`, or what the config says; where there is no config, what the backup's says, which is then put there. */
function placeFor(archive: Archive, options: Options): Place {
  const at = (dataDir: string, newConfig: string | null = null) => {
    if (!options.replace && !isEmpty(dataDir)) {
      throw new CommandFailure(`${dataDir} is not empty: --replace puts the backup in its place and keeps it beside it`)
    }
    return { dataDir, workplace: workplaceFor(dataDir), newConfig }
  }
  if (options.to !== undefined) return at(resolve(options.to))
  if (existsSync(options.config)) return at(requireConfig(options.config).dataDir)
  const text = archive.small.find(({ name }) => name === CONFIG_FILE)?.bytes.toString()
  if (text === undefined) throw usageFault(`${options.config}: there is no such file; name a folder with --to`)
  const read = readConfig({ text, file: options.config, env: process.env })
  if (read.config === undefined) throw configFailure(read.faults)
  return at(read.config.dataDir, text)
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
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { flag: 'wx', mode: 0o640 })
}
