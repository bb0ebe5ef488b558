import type { InboundMessage } from '../../model/inbound-message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { type InboundAddress, type InboundRow, requestedAddresses, toInboundMessage } from '../inbound-rows.ts'
import { INBOUND_COLUMNS } from '../records/inbound.ts'
import { MOST_SEARCHED } from '../roles/inbound.ts'
import type { InboundFilter, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { type Condition, when } from './page.ts'
import { joined, monotonicMs, sliced, type Walk, walked } from './slices.ts'
import { numbersOf } from './times.ts'

const NUMBER = 'select number from inbound_messages where id = ?'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const NUMBER_NEAR = 'select number + 1 from inbound_messages where id < ? order by id desc limit 1'
const NEWEST = 'select max(number) from inbound_messages'
const OLDEST_SEARCHED = `select number from inbound_messages indexed by inbound_messages_of_organization
  where organization_id = ? order by number desc limit 1 offset ${MOST_SEARCHED - 1}`
const TIME_FROM = `select received_at from inbound_messages where organization_id = ? and number >= ?
  order by number limit 1`

const OWN_FROM = `select id from inbound_messages where organization_id = ? and number >= ? and number < ?
  order by number limit 1`

/** Inbound messages that match every given part of the filter, newest first. */
export function inboundList(
  db: Connection,
  nowMs: () => number = monotonicMs,
): (filter: InboundFilter, page: PageRequest) => Page<InboundMessage> {
  const ownFrom = db.prepare<unknown[], string>(OWN_FROM).pluck()
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const numberNear = db.prepare<unknown[], number>(NUMBER_NEAR).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const oldestSearched = db.prepare<unknown[], number>(OLDEST_SEARCHED).pluck()
  const timeFrom = db.prepare<unknown[], number>(TIME_FROM).pluck()

  return (filter, page) => {
    const end = page.after === null ? undefined : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
    const oldest = filter.part == null ? 0 : (oldestSearched.get(filter.organizationId) ?? 0)
    const known = { low: oldest, high: Math.max(oldest, end ?? (newest.get() ?? 0) + 1) }
    const { low, high } = numbersOf(filter, known, (from) => timeFrom.get(filter.organizationId, from))
    const addresses = requestedAddresses(filter)
    const conditions = joined(conditionsOf(filter, addresses))
    const step = sliced<InboundRow, number>(db, walkOf(filter, addresses), INBOUND_COLUMNS, conditions, low)
    // Only the organization's own, since an index may also contain those of others.
    const idFrom = (from: number) => ownFrom.get(filter.organizationId, from, high)
    return walked(step, high, page, { toRecord: toInboundMessage, idFrom, nowMs })
  }
}

function conditionsOf(filter: InboundFilter, addresses: InboundAddress[]): Condition[] {
  return [
    { sql: 'm.organization_id = ?', values: [filter.organizationId] },
    ...when(filter.routeId, 'm.route_id = ?'),
    ...when(filter.domainId, 'm.domain_id = ?'),
    ...when(filter.status, 'm.delivery_status = ?'),
    ...addresses.slice(1).map(({ field, address }) => ({
      sql: `exists (select 1 from inbound_addresses o
        where o.organization_id = ? and o.field = ? and o.address = ? and o.message_number = m.number)`,
      values: [filter.organizationId, field, address],
    })),
    ...when(
      filter.part == null ? null : suppressionKey(filter.part),
      'exists (select 1 from inbound_addresses p where p.message_number = m.number and instr(p.address, ?) > 0)',
    ),
    ...when(filter.createdAfter, 'm.received_at >= ?'),
    ...when(filter.createdBefore, 'm.received_at < ?'),
  ]
}

/** Uses the narrowest index: one address, one route, one status, one domain, or the organization. By itself SQLite
 *  would use the organization, whose index also has the order of the page. */
function walkOf(filter: InboundFilter, [narrowest]: InboundAddress[]): Walk {
  const { organizationId, routeId, status, domainId } = filter
  if (narrowest !== undefined) {
    return {
      walked: 'inbound_addresses a',
      join: 'cross join inbound_messages m on m.number = a.message_number',
      key: 'a.message_number',
      sql: 'a.organization_id = ? and a.field = ? and a.address = ?',
      values: [organizationId, narrowest.field, narrowest.address],
    }
  }
  const by = (index: string, sql: string, ...values: unknown[]): Walk => ({
    walked: `inbound_messages m indexed by inbound_messages_${index}`,
    join: '',
    key: 'm.number',
    sql,
    values,
  })
  if (routeId !== null) return by('of_route', 'm.route_id = ?', routeId)
  if (status !== null) return by('by_status', 'm.organization_id = ? and m.delivery_status = ?', organizationId, status)
  if (domainId !== null) return by('of_domain', 'm.domain_id = ?', domainId)
  return by('of_organization', 'm.organization_id = ?', organizationId)
}
