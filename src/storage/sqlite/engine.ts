import { type Plan, planFor, UNLIMITED_PLAN } from '../../model/organization.ts'
import type { CommitListener } from '../commit-reports.ts'
import type { Encryption } from '../encryption.ts'
import { PART_BYTES } from '../mail/contents.ts'
import { EventKinds } from '../mail/event-kinds.ts'
import { MailGroup, type OwnInside } from '../mail/group.ts'
import { UsageSums } from '../mail/usage-sums.ts'
import { auditedAction } from '../records/audit-log.ts'
import { performerOn, sqliteDatabase, stepsOn } from './database.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { Connection } from './driver.ts'
import { watchForeignChanges } from './foreign.ts'
import { createLateCopy } from './late-copy.ts'
import { Batches } from './mail-lanes.ts'
import { Numbers } from './numbers.ts'
import type { ReadingThread } from './reader.ts'
import { shareReads } from './reading.ts'
import { Outdated } from './search.ts'
import { createSettings } from './settings.ts'
import { logCopy } from './space.ts'
import { createStoredBytes } from './stored-bytes.ts'
import { readWaiting } from './waiting.ts'
import { createWriter, type Memory } from './writer.ts'

/** Each removed record may come from the disk, and the main thread does it: a step looks at the time after a few. One by
 *  one, they would cost twice as much. */
export const PACE = { slice: 16, together: 4, bytes: 2 * PART_BYTES, parts: 2, posts: 50 }

/** Defaults: nothing listens, all of the disk may be used, nobody waits for another process's lock, nothing is limited, and
 *  reads run in this thread. */
export interface StoreOptions {
  commitListener?: CommitListener | undefined
  reserve?: DiskReserve
  lockPatienceMs?: number
  plans?: ((name: string) => Plan) | undefined
  readingThread?: ReadingThread | undefined
}

/** What reads, writes, and keeps in memory. */
export type Engine = ReturnType<typeof startEngine>

/** Connection, and the encryption of its secrets → what the roles of its store use. */
export function startEngine(
  db: Connection,
  encryption: Encryption,
  { commitListener, lockPatienceMs = 0, plans = () => UNLIMITED_PLAN }: StoreOptions,
) {
  const reading = shareReads(db)
  const foreign = watchForeignChanges(db, reading)
  const settings = createSettings(db, foreign, encryption)
  const sums = new UsageSums()
  const storedBytes = createStoredBytes(db, sums, foreign)
  const kinds = new EventKinds()
  const waiting = readWaiting(db, foreign)
  const late = createLateCopy(db)
  const numbers = new Numbers(db, foreign)
  const outdated = new Outdated()
  const own: OwnInside = {
    next: (table) => numbers.next(table),
    stored: (source, place, organizationId, bytes) =>
      storedBytes.change(source, place as number | null, organizationId, bytes), // `ctid` is translated to `rowid`
    planOf: (id) => planFor(id, settings.organization.get(id), plans),
    writer: () => 0,
    webhooks: settings.webhook,
    routes: settings.inboundRoute,
    pausing: () => {}, // since the change was noted, events are for the webhooks as they are now
    kinds,
    words: null,
    outdated: (messages) => outdated.note(messages),
    pace: PACE,
    offer: (queue, key, at) => waiting[queue].offer(key, at), // too early costs a look if it is rolled back
    writtenAhead: new WeakMap(),
    writing: late.writing,
  }
  const group = new MailGroup(own, { sums, pending: waiting.fanOuts, listener: commitListener })
  const batches = new Batches()
  const steps = stepsOn(db)
  const performNow = performerOn(steps, { mail: group.inside, settings })
  const copyLog = logCopy(db, reading)
  const action = auditedAction()
  const memory: Memory = {
    beginning: reading.end,
    begun: () => {
      foreign.check()
      group.begin()
    },
    ending: () => performNow(group.flush()),
    committed: (ms) => {
      batches.committed()
      group.committed(ms)
      late.committed(copyLog)
    },
    undone: () => {
      batches.undone()
      group.begin()
      numbers.drop()
      settings.dropAll()
      storedBytes.drop()
      kinds.drop()
      late.undone()
    },
  }
  const writer = createWriter(db, memory, { lockPatienceMs })
  const database = sqliteDatabase(steps, writer, { reading, performNow, action })
  return {
    reading,
    foreign,
    settings,
    storedBytes,
    waiting,
    mail: group.inside,
    batches,
    outdated,
    copyLog,
    action,
    writer,
    performNow,
    database,
  }
}
