import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { EngagementRecord } from '../store.ts'
import type { Connection } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { SuppressInside } from './suppressions.ts'

const FIND = `select number, opens, clicks, machine_opens as machineOpens, machine_clicks as machineClicks,
    unsubscribed_at as unsubscribedAt
  from deliveries where id = ? and address <> '${ERASED_ADDRESS}'`
const COUNT = `update deliveries set opens = opens + ?, clicks = clicks + ?, machine_opens = machine_opens + ?,
    machine_clicks = machine_clicks + ?
  where number = ?`
const UNSUBSCRIBE = 'update deliveries set unsubscribed_at = ? where number = ?'

/** Writes an engagement record inside a change. */
export type EngageInside = (record: EngagementRecord) => 'recorded' | 'counted' | 'unknown'

export function engageInside(
  db: Connection,
  { append, suppress }: { append: AppendInside; suppress: SuppressInside },
): EngageInside {
  const find = db.prepare<unknown[], Row>(FIND)
  const count = db.prepare(COUNT)
  const unsubscribe = db.prepare(UNSUBSCRIBE)

  const countOne = (row: Row, kind: 'opened' | 'clicked', machine: boolean) => {
    const one = (which: typeof kind, byMachine: boolean) => Number(kind === which && machine === byMachine)
    count.run(one('opened', false), one('clicked', false), one('opened', true), one('clicked', true), row.number)
  }

  return ({ deliveryId, kind, machine, event, suppression, now }) => {
    const row = find.get(deliveryId)
    if (row === undefined) return 'unknown'
    if (kind === 'unsubscribed') {
      const isNew = suppression !== null && suppress(suppression)
      if (row.unsubscribedAt !== null && !isNew) return 'counted'
      unsubscribe.run(now, row.number)
      append(event)
      return 'recorded'
    }
    const [people, machines] = kind === 'opened' ? [row.opens, row.machineOpens] : [row.clicks, row.machineClicks]
    countOne(row, kind, machine)
    if (people + machines >= FIXED_LIMITS.eventsOfEngagement) return 'counted'
    append(event, { isRepeat: people > 0 })
    return 'recorded'
  }
}

interface Row {
  number: number
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  unsubscribedAt: number | null
}
