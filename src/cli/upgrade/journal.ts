import { readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { writeAsOwner } from '../../os/owned-file.ts'
import { errorCode } from '../../os/thrown.ts'
import { CommandFailure } from '../failure.ts'
import type { Place } from './place.ts'

/** How the server is restarted; null = it is not. */
const service = z
  .union([z.strictObject({ unit: z.string() }), z.strictObject({ stop: z.string(), start: z.string() })])
  .nullable()
export type ServiceRecord = z.infer<typeof service>

/** What an upgrade has decided. It is written before the program is replaced and removed at the end; every step can be
 *  repeated. Later versions continue what this one began, so the format stays. */
const journal = z.strictObject({
  format: z.literal(1),
  /** `swap`: replace the program; `start`: start it and wait; `back`: return to the old one. */
  state: z.enum(['swap', 'start', 'back']),
  /** Of `back`. */
  reason: z.string(),
  from: z.string(),
  to: z.string(),
  /** Hashes of both programs. */
  old_sha256: z.string(),
  new_sha256: z.string(),
  /** Schema steps up to which the old program opens the store: those of the store before, or of the program if other nodes
   *  have upgraded it already. Null without a store. */
  schema: z.number().int().nullable(),
  backup: z.string().nullable(),
  begun_at: z.iso.datetime(),
  config: z.string(),
  service,
  ready_within_seconds: z.number(),
  /** Debian's package manager installs the new program. */
  is_package: z.boolean(),
})
export type Journal = z.infer<typeof journal>

/** Null if no upgrade is unfinished. Throws CommandFailure if a journal is there that this version cannot read. */
export function readJournal(place: Place): Journal | null {
  let text: string
  try {
    text = readFileSync(place.journal, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
  try {
    return journal.parse(JSON.parse(text))
  } catch {
    throw new CommandFailure(
      `${place.journal}: this version cannot read it. Continue with the program that began the upgrade: ${place.previous} upgrade`,
    )
  }
}

/** Complete or not at all, and synced to disk. */
export function writeJournal(place: Place, next: Journal): Journal {
  writeAsOwner(place.folder, basename(place.journal), `${JSON.stringify(next)}\n`)
  return next
}

export function removeJournal(place: Place): void {
  rmSync(place.journal, { force: true })
}
