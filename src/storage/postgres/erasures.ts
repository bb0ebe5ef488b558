import { ERASURES_TOGETHER, NOTHING_ERASED } from '../../model/erasure.ts'
import type { Encryption } from '../encryption.ts'
import { hashOfAddress } from '../erased-address.ts'
import { type ErasureJobRow, type ErasureRow, placeOfAddress, toErasure, withRemoved } from '../erasure-rows.ts'
import { rangeOf, toPage } from '../page.ts'
import { ERASURE_PAUSE_MS } from '../roles/erasures.ts'
import type { Erasures } from '../store.ts'
import { erasureWork } from './erasure-work.ts'
import type { MailLane } from './group.ts'
import { createMirror, type Mirror, readerOf } from './mirror.ts'
import type { Reads } from './reads.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, organization_id as "organizationId", address_hash as "addressHash",
  created_at::float8 as "createdAt", finished_at::float8 as "finishedAt", removed`
const GET = `select ${COLUMNS} from erasures where id = $1`
const LIST = `select ${COLUMNS} from erasures
  where organization_id = $1 and id < $2 and created_at >= $3 and created_at < $4 order by id desc limit $5`
const RUNNING_OF = `select ${COLUMNS} from erasures
  where finished_at is null and address_hash = $1 and organization_id = $2`
const RUNNING = 'select count(*)::int as count from erasures where finished_at is null and organization_id = $1'
const DUE = `select ${COLUMNS}, address, step, after, is_waiting as "isWaiting" from erasures
  where finished_at is null and next_at <= $1 order by next_at limit 1`
const ADD = `insert into erasures (id, organization_id, address_hash, address, created_at, step, after, is_waiting, next_at,
    removed)
  values ($1, $2, $3, $4::bytea, $5::bigint, 0, '', false, $5::bigint, $6)`
const MOVE = `update erasures set step = $2, after = $3, is_waiting = $4, next_at = $5, removed = $6 where id = $1`
const FINISH = 'update erasures set finished_at = $2, address = null, removed = $3 where id = $1'

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
        return { id, organizationId, addressHash: hash, createdAt: now, finishedAt: null, removed: NOTHING_ERASED }
      })
    },
    get: async (id) => {
      const [row] = await reads.query<ErasureRow>(GET, [id])
      return row === undefined ? null : toErasure(row)
    },
    list: async (organizationId, page) =>
      toPage(await reads.query<ErasureRow>(LIST, [organizationId, ...rangeOf(page)]), page, toErasure),
    step: async (now) => {
      const [row] = await reads.query<ErasureJobRow<boolean>>(DUE, [now])
      if (row === undefined) return false
      const address = encryption.decrypt(row.address, placeOfAddress(row.id)).toString()
      await lane.perform(async (group) => {
        const perform = work[row.step]
        const done = (await perform?.(group, { ...row, address, now }, row.after)) ?? { after: null }
        const counts = withRemoved(row.removed, done.removed ?? {})
        const waits = row.isWaiting || done.isWaiting === true
        const { run } = group.statements
        const move = (step: number, after: string, isWaiting: boolean, nextAt: number) =>
          run(MOVE, [row.id, step, after, isWaiting, nextAt, counts])
        if (done.after !== null) await move(row.step, done.after, waits, now)
        else if (row.step + 1 < work.length) await move(row.step + 1, '', waits, now)
        else if (waits) await move(0, '', false, now + ERASURE_PAUSE_MS)
        else await run(FINISH, [row.id, now, counts])
      })
      return true
    },
  }
}
