import { heldText } from '../../model/held.ts'
import { type LastBackup, readLastBackup } from '../../os/last-backup.ts'
import type { Store } from '../../storage/store.ts'
import { pass, type Verdict, warn } from './check.ts'

const DAY_MS = 86_400_000
/** Allows for one failed night. */
const OLD_MS = 2 * DAY_MS

const ADVICE = 'Run `postrider backup FOLDER --keep 14` every night (see the manual, Backup and restore).'

/** Checks that a recent backup exists. */
export function checkBackup(dataDir: string, now: number): Verdict {
  const last = readLastBackup(dataDir)
  if (last === null) return warn('no backup has been made yet', ADVICE)
  const message = `last backup ${words(last, now)}`
  return now - last.madeAt > OLD_MS ? warn(message, ADVICE) : pass(message)
}

/** After a restore, the operator decides about the mail that was waiting. */
export async function checkHeld(held: Pick<Store['held'], 'count'>): Promise<Verdict> {
  const counts = await held.count()
  if (Object.values(counts).every((count) => count === 0)) return pass('nothing is held after a restore')
  return warn(
    `held after a restore: ${heldText(counts)}`,
    '`postrider restore release` lists them and lets you release or discard them.',
  )
}

function words({ madeAt, to, signedBy }: LastBackup, now: number): string {
  const hours = Math.floor((now - madeAt) / 3_600_000)
  const age =
    hours < 1 ? 'less than an hour ago' : hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`
  return `${age}, to ${to}, signed by ${signedBy}`
}
