import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/load.ts'
import { iso } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import { type CopiedTable, CopyDiffers } from '../../storage/moving/copy-tables.ts'
import { markMoved, requireNotMoved } from '../../storage/moving/moved.ts'
import { moveToPostgres } from '../../storage/moving/to-postgres.ts'
import { type DatabaseAddress, databaseAddress } from '../../storage/postgres/address.ts'
import { NoAnswer, Refused } from '../../storage/postgres/connection.ts'
import { copyDatabase } from '../../storage/sqlite/copy.ts'
import { DATABASE_FILE } from '../../storage/sqlite/open.ts'
import { openStagingDir, requireFreeSpace } from '../backup/staging-dir.ts'
import { createWritePacing } from '../backup/write-pacing.ts'
import { becomeOwnerOf, requireConfig } from '../cli-context.ts'
import { CommandFailure, usageFault } from '../failure.ts'
import { requireUnserved } from '../serving.ts'
import { migrateBack } from './back.ts'
import { prepareToMove } from './prepare.ts'
import { printMoved } from './report.ts'

interface Options {
  config: string
  to?: string
  toFile?: string
  caFile?: string
  finish?: true
  json?: true
}

/** Moves the data of a data directory to PostgreSQL. It may be interrupted anywhere and repeated.
 *
 *  Without `finish`  beside the running server: copies everything that no longer changes, from a consistent copy
 *  With `finish`     with the server stopped: copies the rest, compares both sides, and marks the data directory as moved.
 *                    From then on only the database serves
 *
 *  With a folder as `to`, it moves back (back.ts).
 *
 *  Throws CommandFailure: without a URL or a database (exit code 2), with `finish` while the server runs (3), if the
 *  database contains another installation, or if both sides differ. */
export async function migrate(options: Options): Promise<void> {
  const config = requireConfig(options.config)
  if (options.to !== undefined && !options.to.includes('://')) {
    return migrateBack(config, resolve(options.to), options).catch(rethrow)
  }
  const address = addressOf(options)
  const file = join(config.dataDir, DATABASE_FILE)
  becomeOwnerOf(config.dataDir)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) throw usageFault(`${file}: no database to move`)
  const startedAt = systemClock.now()
  const tables = await (options.finish ? finish : begin)(config, {
    file,
    address,
    isQuiet: options.json === true,
  }).catch(rethrow)
  printMoved(tables, { address, tookMs: systemClock.now() - startedAt, ...options })
}

function rethrow(thrown: unknown): never {
  const isKnown = thrown instanceof CopyDiffers || thrown instanceof NoAnswer || thrown instanceof Refused
  throw isKnown ? new CommandFailure(`cannot move the data: ${thrown.message}`) : thrown
}

interface Move {
  file: string
  address: DatabaseAddress
  /** Prints no progress. */
  isQuiet: boolean
}

/** From a copy, so that the log of the running server does not grow while PostgreSQL writes. */
async function begin({ dataDir }: Config, { file, ...move }: Move): Promise<CopiedTable[]> {
  requireNotMoved(dataDir)
  requireFreeSpace(dataDir, statSync(file).size, 'The copy of the database')
  const staging = openStagingDir(dataDir, 'migrate')
  try {
    const copy = join(staging.folder, DATABASE_FILE)
    const handle = openSync(copy, 'wx', 0o600)
    await copyDatabase(file, copy, createWritePacing(handle)).finally(() => closeSync(handle))
    return await moved(copy, move, { isFirst: true, beforeServing: async () => {} })
  } finally {
    staging.remove()
  }
}

async function finish(config: Config, { file, ...move }: Move): Promise<CopiedTable[]> {
  const { dataDir } = config
  const lock = requireUnserved(dataDir)
  try {
    await prepareToMove(config)
    return await moved(file, move, {
      isFirst: false,
      beforeServing: (instanceId) =>
        markMoved(dataDir, { to: nameOf(move.address), instance_id: instanceId, at: iso(systemClock.now()) }),
    })
  } finally {
    lock.release()
  }
}

function moved(
  file: string,
  { address, isQuiet }: Omit<Move, 'file'>,
  how: { isFirst: boolean; beforeServing: (instanceId: string) => Promise<void> },
): Promise<CopiedTable[]> {
  const onCopied = ({ name, rows }: CopiedTable) => {
    if (!isQuiet && process.stderr.isTTY) process.stderr.write(`${name}: ${rows}\n`)
  }
  return moveToPostgres({ file, address, now: systemClock.now(), onCopied, ...how })
}

function addressOf({ to, toFile, caFile }: Options): DatabaseAddress {
  if ((to === undefined) === (toFile === undefined)) throw usageFault('Use --to or --to-file.')
  const url = to ?? readFileSync(toFile ?? '', 'utf8').trim()
  try {
    return databaseAddress({ url, caFile: caFile ?? null })
  } catch (error) {
    throw usageFault(error instanceof Error ? error.message : String(error))
  }
}

/** Hosts and database, without user and password. */
export function nameOf({ hosts, database }: DatabaseAddress): string {
  return `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}`
}
