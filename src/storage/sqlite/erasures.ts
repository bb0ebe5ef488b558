import { ERASURES_TOGETHER, NOTHING_ERASED } from '../../model/erasure.ts'
import type { Encryption } from '../encryption.ts'
import { hashOfAddress } from '../erased-address.ts'
import {
  type ErasureJob,
  type ErasureJobRow,
  type ErasureRow,
  placeOfAddress,
  placeOfStep,
  progressOf,
  toErasure,
  toJob,
} from '../erasure-rows.ts'
import { rangeOf, toPage } from '../page.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import type { Erasures } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { ErasedOrganizations } from './erased-organizations.ts'
import { nextTurn } from './page.ts'
import type { Space } from './space.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, address_hash as addressHash, created_at as createdAt,
  finished_at as finishedAt, removed, remaining`
const GET = `select ${COLUMNS} from erasures where id = ?`
const LIST = `select ${COLUMNS} from erasures
  where organization_id = ? and id < ? and created_at >= ? and created_at < ? order by id desc limit ?`
const RUNNING_OF = `select ${COLUMNS} from erasures where finished_at is null and address_hash = ? and organization_id = ?`
const RUNNING = 'select count(*) as count from erasures where finished_at is null and organization_id = ?'
const DUE = `select ${COLUMNS}, address, step, after, is_waiting as isWaiting from erasures
  where finished_at is null and next_at <= ? order by next_at limit 1`
const ADD = `insert into erasures (id, organization_id, address_hash, address, created_at, step, after, is_waiting, next_at,
    removed)
  values (?, ?, ?, ?, ?, 0, '', 0, ?, ?)`
const CONTINUE = `update erasures set step = ?, after = ?, is_waiting = ?, next_at = ?, finished_at = ?, removed = ?,
    remaining = ?, address = iif(? is null, address, null) where id = ?`

/** Erases some records of one kind, inside a change. `after` is where the last step ended, '' at the beginning; the
 *  result says where this step ended. */
export type ErasureWork = (job: ErasureJob, after: string) => ErasureStep

/** `work`: the kinds of records, in the order in which they are erased. */
export function sqliteErasures(
  db: Connection,
  writer: Writer,
  options: {
    work: readonly ErasureWork[]
    encryption: Encryption
    key: () => Promise<Uint8Array>
    space: Space
    organizations: ErasedOrganizations
  },
): Erasures {
  const { work, encryption, key, space, organizations } = options
  const get = db.prepare<unknown[], ErasureRow>(GET)
  const list = db.prepare<unknown[], ErasureRow>(LIST)
  const runningOf = db.prepare<unknown[], ErasureRow>(RUNNING_OF)
  const runningIn = db.prepare<unknown[], { count: number }>(RUNNING)
  const due = db.prepare<unknown[], ErasureJobRow>(DUE)
  const add = db.prepare(ADD)
  const proceed = db.prepare(CONTINUE)

  /** True if that was its last step. */
  const perform = (row: ErasureJobRow, now: number, timeIsUp: () => boolean): boolean => {
    const address = encryption.decrypt(row.address, placeOfAddress(row.id)).toString()
    const done = work[placeOfStep(row.step)]?.(toJob(row, address, now, timeIsUp), row.after) ?? null
    const next = progressOf(row, done, { steps: work.length, now })
    const { step, after, isWaiting, nextAt, finishedAt, removed, remaining } = next
    proceed.run(step, after, Number(isWaiting), nextAt, finishedAt, removed, remaining, finishedAt, row.id)
    return finishedAt !== null
  }

  return {
    begin: async ({ id, organizationId, email, now }) => {
      const hash = hashOfAddress(await key(), organizationId, email)
      const erasure = await writer.write(() => {
        const running = runningOf.get(hash, organizationId)
        if (running !== undefined) return toErasure(running)
        if (one(runningIn, organizationId).count >= ERASURES_TOGETHER) return null
        const address = encryption.encrypt(email, placeOfAddress(id))
        add.run(id, organizationId, hash, address, now, now, JSON.stringify(NOTHING_ERASED))
        return toErasure(one(get, id))
      })
      organizations.drop(organizationId)
      return erasure
    },
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toErasure(row)
    },
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, toErasure),
    step: async (now, timeIsUp) => {
      if (due.get(now) === undefined) return false
      const isFinished = await writer.write(() => {
        timeIsUp()
        const row = due.get(now)
        return row !== undefined && perform(row, now, timeIsUp)
      })
      await nextTurn()
      // The log still has pages from before.
      if (isFinished) space.truncateLog()
      else space.copyLog()
      return true
    },
  }
}
