import { ERASURES_TOGETHER, NOTHING_ERASED } from '../../model/erasure.ts'
import type { Encryption } from '../encryption.ts'
import { hashOfAddress } from '../erased-address.ts'
import { type ErasureJobRow, type ErasureRow, placeOfAddress, toErasure, withRemoved } from '../erasure-rows.ts'
import { rangeOf, toPage } from '../page.ts'
import { ERASURE_PAUSE_MS, type ErasureStep } from '../roles/erasures.ts'
import type { Erasures } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { ErasedOrganizations } from './erased-organizations.ts'
import { nextTurn } from './page.ts'
import type { Space } from './space.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as organizationId, address_hash as addressHash, created_at as createdAt,
  finished_at as finishedAt, removed`
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
const MOVE = 'update erasures set step = ?, after = ?, is_waiting = ?, next_at = ?, removed = ? where id = ?'
const FINISH = 'update erasures set finished_at = ?, address = null, removed = ? where id = ?'

/** An erasure in progress, for one of its steps. */
export interface ErasureJob {
  organizationId: string
  /** Folded. */
  address: string
  addressHash: string
  createdAt: number
  now: number
}

/** One kind of record: erases some after a place ('' = from the beginning), inside a change. */
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
  const due = db.prepare<unknown[], Job>(DUE)
  const add = db.prepare(ADD)
  const move = db.prepare(MOVE)
  const finish = db.prepare(FINISH)

  const perform = (row: Job, now: number): boolean => {
    const address = encryption.decrypt(row.address, placeOfAddress(row.id)).toString()
    const {
      after,
      removed = {},
      isWaiting = false,
    } = work[row.step]?.({ ...row, address, now }, row.after) ?? {
      after: null,
    }
    const counts = withRemoved(row.removed, removed)
    const waits = row.isWaiting === 1 || isWaiting
    if (after !== null) move.run(row.step, after, Number(waits), now, counts, row.id)
    else if (row.step + 1 < work.length) move.run(row.step + 1, '', Number(waits), now, counts, row.id)
    else if (waits) move.run(0, '', 0, now + ERASURE_PAUSE_MS, counts, row.id)
    else {
      finish.run(now, counts, row.id)
      return true
    }
    return false
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
        return { id, organizationId, addressHash: hash, createdAt: now, finishedAt: null, removed: NOTHING_ERASED }
      })
      organizations.drop(organizationId)
      return erasure
    },
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toErasure(row)
    },
    list: async (organizationId, page) => toPage(list.all(organizationId, ...rangeOf(page)), page, toErasure),
    step: async (now) => {
      if (due.get(now) === undefined) return false
      const isFinished = await writer.write(() => {
        const row = due.get(now)
        return row !== undefined && perform(row, now)
      })
      await nextTurn()
      // The log still has pages from before.
      if (isFinished) space.truncateLog()
      else space.copyLog()
      return true
    },
  }
}

type Job = ErasureJobRow<number>
