import { ERASURES_TOGETHER, NOTHING_ERASED } from '../../model/erasure.ts'
import type { Encryption } from '../encryption.ts'
import { hashOfAddress } from '../erased-address.ts'
import {
  type ErasureJobRow,
  type ErasureRow,
  placeOfAddress,
  placeOfStep,
  progressOf,
  toErasure,
  toJob,
} from '../erasure-rows.ts'
import { rangeOf, toPage } from '../page.ts'
import type { Erasures } from '../store.ts'
import { erasureWork } from './erasure-work.ts'
import type { MailLane } from './group.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", address_hash as "addressHash",
  created_at::float8 as "createdAt", finished_at::float8 as "finishedAt", removed, remaining`
const GET = `select ${COLUMNS} from erasures where id = $1`
const LIST = `select ${COLUMNS} from erasures
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const RUNNING_OF = `select ${COLUMNS} from erasures
  where finished_at is null and address_hash = $1 and organization_id = $2`
const RUNNING = 'select count(*)::int as count from erasures where finished_at is null and organization_id = $1'
const IS_DUE = 'select 1 from erasures where finished_at is null and next_at <= $1 limit 1'
// Another node may perform the same step while this one takes over: that one has the row.
const DUE = `select ${COLUMNS}, address, step, after, is_waiting as "isWaiting" from erasures
  where finished_at is null and next_at <= $1 order by next_at limit 1 for update skip locked`
const ADD = `insert into erasures (id, organization_id, address_hash, address, created_at, step, after, is_waiting, next_at,
    removed)
  values ($1, $2, $3, $4::bytea, $5::bigint, 0, '', false, $5::bigint, $6)`
const CONTINUE = `update erasures set step = $2, after = $3, is_waiting = $4, next_at = $5, finished_at = $6::bigint,
    removed = $7, remaining = $8, address = case when $6::bigint is null then address end where id = $1`

/** Organizations that have erased a recipient. */
export const erasureMirror = (): Mirror<{ id: string }> =>
  createMirror(readerOf<{ id: string }>('select distinct organization_id as id from erasures'))

export function postgresErasures(
  reads: Reads,
  writer: Writer,
  {
    lane,
    encryption,
    key,
    usage,
  }: { lane: MailLane; encryption: Encryption; key: () => Promise<Uint8Array>; usage: Usage },
): Erasures {
  const work = erasureWork(usage)
  return {
    begin: async ({ id, organizationId, email, now }) => {
      const hash = hashOfAddress(await key(), organizationId, email)
      return writer.writeSettings(async ({ query, run, changed }) => {
        const [running] = await query<ErasureRow>(RUNNING_OF, [hash, organizationId])
        if (running !== undefined) return toErasure(running)
        const [all] = await query<{ count: number }>(RUNNING, [organizationId])
        if (all!.count >= ERASURES_TOGETHER) return null
        changed('erasure', organizationId)
        const address = encryption.encrypt(email, placeOfAddress(id))
        await run(ADD, [id, organizationId, hash, address, now, JSON.stringify(NOTHING_ERASED)])
        return {
          ...{ id, organizationId, addressHash: hash, createdAt: now, finishedAt: null },
          ...{ removed: NOTHING_ERASED, remaining: [] },
        }
      })
    },
    get: async (id) => {
      const [row] = await reads.query<ErasureRow>(GET, [id])
      return row === undefined ? null : toErasure(row)
    },
    list: async (organizationId, page) =>
      toPage(await reads.query<ErasureRow>(LIST, [organizationId, ...rangeOf(page)]), page, toErasure),
    step: async (now, timeIsUp) => {
      if ((await reads.query(IS_DUE, [now])).length === 0) return false
      return lane.perform(async (group) => {
        timeIsUp()
        const { query, run } = group.statements
        const [row] = await query<ErasureJobRow>(DUE, [now])
        if (row === undefined) return false
        const address = encryption.decrypt(row.address, placeOfAddress(row.id)).toString()
        const done = (await work[placeOfStep(row.step)]?.(group, toJob(row, address, now, timeIsUp), row.after)) ?? null
        const next = progressOf(row, done, { steps: work.length, now })
        const { step, after, isWaiting, nextAt, finishedAt, removed, remaining } = next
        await run(CONTINUE, [row.id, step, after, isWaiting, nextAt, finishedAt, removed, remaining])
        return true
      })
    },
  }
}
