import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { Deliveries } from '../store.ts'
import type { MailLane } from './group.ts'
import { addEngagement } from './outcomes.ts'
import { suppressOne } from './suppressions.ts'

// Locked, so that the limit holds and only one open is the first.
const FIND = `select d.organization_id as "organizationId", coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks,
    coalesce(e.machine_opens, 0) as "machineOpens", coalesce(e.machine_clicks, 0) as "machineClicks",
    e.unsubscribed_at::float8 as "unsubscribedAt"
  from deliveries d left join engagement e on e.delivery_id = d.id where d.id = $1
    and d.address <> '${ERASED_ADDRESS}' for no key update of d`

interface Row {
  organizationId: string
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  unsubscribedAt: number | null
}

export function postgresEngagement(lane: MailLane): Pick<Deliveries, 'recordEngagement'> {
  return {
    recordEngagement: ({ deliveryId, kind, machine, event, suppression, now }) =>
      lane.perform(async (group) => {
        const { statements, add } = group
        const [row] = await statements.query<Row>(FIND, [deliveryId])
        if (row === undefined) return 'unknown'
        const none = { deliveryId, organizationId: row.organizationId, opens: 0, clicks: 0 }
        if (kind === 'unsubscribed') {
          const isNew = suppression !== null && (await suppressOne(group, suppression))
          if (row.unsubscribedAt !== null && !isNew) return 'counted'
          await addEngagement(statements, [{ ...none, unsubscribedAt: now }])
          add.append(event)
          return 'recorded'
        }
        await addEngagement(statements, [{ ...none, [columnOf(kind, machine)]: 1 }])
        const [people, machines] = kind === 'opened' ? [row.opens, row.machineOpens] : [row.clicks, row.machineClicks]
        if (people + machines >= FIXED_LIMITS.eventsOfEngagement) return 'counted'
        add.append(event, { isRepeat: people > 0 })
        return 'recorded'
      }),
  }
}

function columnOf(
  kind: 'opened' | 'clicked',
  isMachine: boolean,
): 'opens' | 'clicks' | 'machineOpens' | 'machineClicks' {
  if (kind === 'opened') return isMachine ? 'machineOpens' : 'opens'
  return isMachine ? 'machineClicks' : 'clicks'
}
