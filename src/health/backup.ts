import { type LastBackup, readLastBackup } from '../os/last-backup.ts'
import type { Held } from '../storage/store.ts'
import { pass, type Verdict, warn } from './check.ts'

const DAY_MS = 86_400_000
/** One night may fail. */
const OLD_MS = 2 * DAY_MS

const ADVICE = 'Have `postrider backup FOLDER --keep 14` run every night (README, Back up and restore).'

/** There is a backup, and it is not old. */
export function checkBackup(dataDir: string, now: number): Verdict {
  const last = readLastBackup(dataDir)
  if (last === null) return warn('no backup was made yet', ADVICE)
  const message = `the last was made ${words(last, now)}`
  return now - last.madeAt > OLD_MS ? warn(message, ADVICE) : pass(message)
}

/** After a restore somebody has to say what becomes of what waited. */
export async function checkHeld(held: Pick<Held, 'count'>): Promise<Verdict> {
  const { deliveries, webhookDeliveries, inboundDeliveries } = await held.count()
  if (deliveries + webhookDeliveries + inboundDeliveries === 0) return pass('nothing is held since a restore')
  return warn(
    `held since a restore: ${deliveries} deliveries, ${webhookDeliveries} webhook posts, ${inboundDeliveries} inbound posts`,
    '`postrider restore release` tells of it and says what becomes of it.',
  )
}

function words({ madeAt, to }: LastBackup, now: number): string {
  const hours = Math.floor((now - madeAt) / 3_600_000)
  const age = hours < 1 ? 'within the hour' : hours < 48 ? `${hours} hours ago` : `${Math.floor(hours / 24)} days ago`
  return `${age}, to ${to}`
}
