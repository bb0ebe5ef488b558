import { createReadStream, existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { hashOf } from '../backup/archive.ts'
import { usageFault } from '../failure.ts'

/** The files of an upgrade. All are in the folder of the program, so that renames suffice and only users who may replace the
 *  program can change them. */
export interface Place {
  /** The program that is replaced. */
  program: string
  /** The program before the last upgrade. */
  previous: string
  /** Exists only during an upgrade. */
  folder: string
  archive: string
  /** The new program. */
  staged: string
  journal: string
}

const PREVIOUS = '.previous'

/** The place of the program that runs now, which may be the previous one. Throws CommandFailure (exit code 2) for a program
 *  that runs from source. */
export function ownPlace(): Place {
  if (process.env.POSTRIDER_GIT_SHA === undefined) {
    throw usageFault('this program runs from source. Update the checkout instead.')
  }
  const running = process.execPath.replace(/ \(deleted\)$/, '')
  const named = running.endsWith(PREVIOUS) ? running.slice(0, -PREVIOUS.length) : running
  return placeOf(existsSync(named) ? realpathSync(named) : named)
}

/** Path of a program → its place. */
export function placeOf(program: string): Place {
  const folder = join(dirname(program), `.${basename(program)}-upgrade`)
  return {
    program,
    previous: `${program}${PREVIOUS}`,
    folder,
    archive: join(folder, 'archive'),
    staged: join(folder, 'program'),
    journal: join(folder, 'journal.json'),
  }
}

/** SHA-256 (hex) of a file; null if there is none. */
export async function hashOfFile(file: string): Promise<string | null> {
  if (!existsSync(file)) return null
  return (await hashOf(createReadStream(file, { highWaterMark: 1024 * 1024 }))).sha256
}
