import { rmSync } from 'node:fs'
import type { MintId } from '../../../os/ids.ts'
import type { Log } from '../../../os/log.ts'
import type { MailLog } from '../../../os/mail-log.ts'
import type { Deliveries } from '../../../storage/store.ts'
import { publish, recordOf } from '../record.ts'
import { verdictOf } from '../schedule/verdict.ts'
import { type Note, readJournals } from './delivered-journal.ts'

/** At start, while the previous process's leases still hold: records deliveries that its threads noted in their
 *  journals (journal/delivered-journal.ts) but that it did not store, so that they are not sent again. Notes already in
 *  the store change nothing. Unreadable files are logged and kept; their mails go out once more. Rejects with what the
 *  store throws. */
export async function recordDelivered(
  folder: string,
  deps: {
    deliveries: Pick<Deliveries, 'get' | 'record'>
    now: () => number
    mintId: MintId
    log: Log
    mailLog: MailLog
  },
): Promise<void> {
  const { deliveries, now, mintId, log, mailLog } = deps

  const recordNote = async ({ deliveryId, outcome, attempt }: Note, worker: string) => {
    const found = await deliveries.get(deliveryId)
    if (found === null) return
    const tried = { outcome, attempt, reactions: [] }
    const record = recordOf(found, tried, verdictOf(outcome, false, null), { worker, now: now(), mintId })
    if ((await deliveries.record(record)) === 'recorded') publish(record, mailLog)
  }

  const unreadable = (path: string, error: unknown) =>
    log.warn('journal of the previous process unreadable', { path, error })
  for (const { path, worker, notes } of readJournals(folder, unreadable)) {
    await Promise.all(notes.map((note) => recordNote(note, worker)))
    rmSync(path, { force: true })
  }
}
