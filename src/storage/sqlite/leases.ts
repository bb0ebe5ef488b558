import { type DueIndex, NO_END } from '../due-index.ts'
import type { ClaimQueue } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

/** Differences between the queues. SQL parts refer to the row as `d`. */
interface QueueTable {
  table: string
  /** Column that the queue is ordered by. */
  key: string
  /** Further assignments for a row that was not attempted. */
  onRelease?: string
  /** Wait after a lost attempt before the row is due again, ms. */
  pauseMs?: string
  /** Rows that keep their date when the clock is set. */
  isDated?: string
  /** Time of the last attempt, or of the row's acceptance (ms UTC). */
  waitsSince: string
}

/** Rows per call of endFutureWaits: one or two milliseconds. */
const SLICE = 2000

/** Ends leases and waits of one queue; the same for all queues. */
export function leasesOf(
  db: Connection,
  writer: Writer,
  dueIndex: DueIndex,
  { table, key, onRelease = '', pauseMs = '0', isDated = 'false', waitsSince }: QueueTable,
): Pick<ClaimQueue<unknown>, 'release' | 'endLeases' | 'endFutureWaits'> {
  const release = db
    .prepare<unknown[], string>(
      `update ${table} as d set attempts = attempts - 1, worker = null, next_attempt_at = ?${onRelease}
      where id = ? and worker = ? and attempts = ? returning ${key}`,
    )
    .pluck()
  const heldBy = db.prepare<unknown[], { number: number; id: string }>(
    `select number, id from ${table} where worker = ?`,
  )
  const end = db.prepare<unknown[], DueRow>(
    `update ${table} as d set worker = null, next_attempt_at = ? + ${pauseMs}
    where number = ? and worker = ? returning ${key} as key, next_attempt_at as at`,
  )
  const behind = `from ${table} where next_attempt_at is not null and (${key}, next_attempt_at, number) > (?, ?, ?)
    order by ${key}, next_attempt_at, number limit`
  const isFuture = `worker is null and not ${isDated} and ${waitsSince} > ?`
  const future = db
    .prepare<unknown[], number>(
      `select number from ${table} d where number in (select number from
        (select number, next_attempt_at as at ${behind} ${SLICE}) where at > ? and at < ${NO_END}) and ${isFuture}`,
    )
    .pluck()
  const last = db.prepare<unknown[], Place>(
    `select ${key} as key, next_attempt_at as at, number ${behind} 1 offset ${SLICE - 1}`,
  )
  const makeDue = db
    .prepare<unknown[], string>(
      `update ${table} as d set next_attempt_at = ? where number = ? and ${isFuture} returning ${key}`,
    )
    .pluck()
  let looked: Place = BEFORE_ALL

  return {
    release: (claims, dueAt) =>
      writer.write(() => {
        for (const { id, attempt, worker } of claims) {
          const released = release.get(dueAt, id, worker, attempt)
          if (released !== undefined) dueIndex.offer(released, dueAt)
        }
      }),
    endLeases: async (worker, underWay, now) => {
      const lost = heldBy.all(worker).filter(({ id }) => !underWay.has(id))
      if (lost.length === 0) return 0
      return writer.write(() => {
        let ended = 0
        for (const { number } of lost) {
          const row = end.get(now, number, worker)
          if (row === undefined) continue
          dueIndex.offer(row.key, row.at)
          ended++
        }
        return ended
      })
    },
    endFutureWaits: async (now) => {
      const { key: from, at, number } = looked
      const wrong = future.all(from, at, number, now, now)
      const next = last.get(from, at, number)
      if (wrong.length > 0) {
        await writer.write(() => {
          for (const row of wrong) {
            const due = makeDue.get(now, row, now)
            if (due !== undefined) dueIndex.offer(due, now)
          }
        })
      }
      looked = next ?? BEFORE_ALL
      return next !== undefined
    },
  }
}

interface DueRow {
  key: string
  at: number
}

/** A row of the due index. */
interface Place extends DueRow {
  number: number
}

const BEFORE_ALL: Place = { key: '', at: 0, number: 0 }
