import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/load.ts'
import { iso } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import { noteUpgrade } from '../../os/last-upgrade.ts'
import { errorCode } from '../../os/thrown.ts'
import { NEWEST_SCHEMA } from '../../storage/migrations.ts'
import { lockDataDir } from '../../storage/sqlite/lock.ts'
import { VERSION } from '../../version.ts'
import { requireConfig } from '../cli-context.ts'
import { CommandFailure, EXIT, type ExitCode, usageFault } from '../failure.ts'
import { print } from '../print.ts'
import { type Journal, readJournal, removeJournal, writeJournal } from './journal.ts'
import { hashOfFile, ownPlace, type Place } from './place.ts'
import { backUp, requireBackupOf, requireNewer, stepsAhead } from './prepare.ts'
import { findRelease } from './release.ts'
import { printCurrent, printEnd, printPlan } from './report.ts'
import { findService } from './service.ts'
import { isOfPackage, stage } from './stage.ts'
import { type Ended, takeSteps } from './steps.ts'
import { isServedNow, recordUpgrade, storeSchema } from './store.ts'

export interface Options {
  config: string
  from?: string
  version?: string
  signers?: string
  check?: true
  allowOlder?: true
  backup: boolean
  backupTo?: string
  restart: boolean
  unit: string
  stopCommand?: string
  startCommand?: string
  readyWithin: number
  json?: true
}

/** Replaces this program with a newer one of a signed release and restarts the server.
 *
 *  Before       verifies the signature, tries the new program, backs up, and lets the new program upgrade that backup
 *  Not ready    the old program and the database from before come back, unless mail would be lost
 *  Interrupted  the program and the database fit each other at every moment; the next call continues or goes back
 *
 *  Returns 0 if the new version serves, or if there is nothing newer; 1 after going back. Throws CommandFailure if it cannot
 *  begin: nothing was changed then. */
export async function upgrade(options: Options): Promise<ExitCode> {
  const place = ownPlace()
  const unlock = lockFolder(place)
  try {
    const begun = readJournal(place)
    if (begun !== null) return await resume(begun, place, options)
    return await upgradeTo({ place, config: requireConfig(options.config), options })
  } finally {
    unlock()
  }
}

async function resume(journal: Journal, place: Place, options: Options): Promise<ExitCode> {
  const which = `the upgrade from ${journal.from} to ${journal.to} of ${journal.begun_at}`
  if (options.check) throw new CommandFailure(`${which} is not finished. Finish it without --check.`)
  const end = await endOf(journal, place)
  if (end !== null) {
    removeJournal(place)
    throw new CommandFailure(`${which} ${end}. Run the command again.`)
  }
  if (!options.json) print(`Continuing ${which}`)
  return finish(journal, { place, config: requireConfig(journal.config), options })
}

/** Why there is nothing to continue; null if there is. */
async function endOf({ state, old_sha256, new_sha256 }: Journal, { program, staged }: Place): Promise<string | null> {
  const present = await hashOfFile(program)
  if (present !== old_sha256 && present !== new_sha256) return `ends here, because ${program} was replaced by hand`
  const isUntouched = state === 'swap' && present === old_sha256 && (await hashOfFile(staged)) !== new_sha256
  return isUntouched ? 'was interrupted before it changed anything' : null
}

interface Context {
  place: Place
  config: Config
  options: Options
}

async function upgradeTo(context: Context): Promise<ExitCode> {
  const { place, config, options } = context
  const { from } = options
  if (from === undefined) throw usageFault('missing --from: the URL or folder of a release')
  const release = await findRelease({ ...options, from })
  if (release === null) {
    printCurrent(options)
    return EXIT.done
  }
  const say = (line: string) => options.json || print(line)
  const isPackage = await isOfPackage(place.program)
  const staged = await stage(release, { place, config: options.config, isPackage })
  const schema = await storeSchema(config)
  requireNewer(config, staged, schema, release.version)
  const service = await findService(config, options, { place, isServed: await isServedNow(config) })
  const steps = stepsAhead(config, staged, schema)
  if (!options.json || options.check) printPlan({ release, place, service, steps, isPackage, options })
  requireBackupOf(config, options.backup, steps)
  if (options.check) return EXIT.done
  const configFile = options.config && resolve(options.config) // '' = none
  const backup = schema === null ? null : await backUp({ place, configFile, config }, options.backupTo)
  if (backup !== null) say(`backed up to ${backup}`)
  if (schema !== null && schema <= NEWEST_SCHEMA) await recordUpgrade(config, release.version)
  const journal: Journal = {
    format: 1,
    state: 'swap',
    reason: '',
    from: VERSION,
    to: release.version,
    old_sha256: (await hashOfFile(place.program)) ?? '',
    new_sha256: staged.sha256,
    schema: schema === null ? null : Math.min(schema, NEWEST_SCHEMA),
    backup,
    begun_at: iso(systemClock.now()),
    config: configFile,
    service,
    ready_within_seconds: options.readyWithin,
    is_package: isPackage,
  }
  return finish(writeJournal(place, journal), context)
}

async function finish(journal: Journal, { place, config, options }: Context): Promise<ExitCode> {
  const say = (line: string) => options.json || print(line)
  const ended: Ended = await takeSteps(journal, { place, config, say: (line) => void say(line) })
  if (existsSync(config.dataDir)) {
    noteUpgrade(config.dataDir, { at: systemClock.now(), from: journal.from, to: journal.to, result: ended.result })
  }
  removeJournal(place)
  printEnd(journal, ended, { place, json: options.json === true })
  return ended.result === 'done' ? EXIT.done : EXIT.failed
}

/** Only one upgrade of a program at a time, until the caller calls the returned function, which removes the folder unless an
 *  unfinished upgrade needs it. Throws CommandFailure without the right to replace the program. */
function lockFolder({ folder, journal }: Place): () => void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EROFS') throw error
    throw new CommandFailure(
      `${folder}: permission denied. Run the upgrade as the user who may replace the program, such as root.`,
    )
  }
  const lock = lockDataDir(folder)
  if (lock === null) throw new CommandFailure('another upgrade is running')
  return () => {
    if (existsSync(journal)) return lock.release()
    // Under another name, so that nobody locks a file that is about to be removed.
    const removed = `${folder}.removed`
    rmSync(removed, { recursive: true, force: true })
    renameSync(folder, removed)
    lock.release()
    rmSync(removed, { recursive: true, force: true })
  }
}
