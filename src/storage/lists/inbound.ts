import type { InboundMessage } from '../../model/inbound-message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { INBOUND_COLUMNS, type InboundRow, requestedAddresses, toInboundMessage } from '../mail/inbound-rows.ts'
import { named } from '../named.ts'
import { MOST_SEARCHED } from '../roles/inbound.ts'
import type { Work } from '../sql.ts'
import type { InboundFilter, Page, PageRequest } from '../store.ts'
import { numbersOn } from './numbers.ts'
import { amongOwn, type Listed, type Pace, pageOf, sliceOf, type Walk, walkSteps, walkTexts } from './slices.ts'

const hasAddress = (field: 'from' | 'to') => `(:${field}::text is null or exists (
  select 1 from inbound_addresses o where o.organization_id = :organizationId and o.field = '${field}'
    and o.address = :${field} and o.message_number = m.number))`
// `||` hides the index of the organization: messages are read by their numbers.
const CONDITIONS = `m.organization_id || '' = :organizationId and ${hasAddress('from')} and ${hasAddress('to')}
  and (:routeId::text is null or m.route_id = :routeId)
  and (:domainId::text is null or m.domain_id = :domainId)
  and (:status::text is null or m.delivery_status = :status)
  and (:part::text is null or exists (
    select 1 from inbound_addresses p where p.message_number = m.number and strpos(p.address, :part) > 0))
  and (:createdAfter::bigint is null or m.received_at >= :createdAfter)
  and (:createdBefore::bigint is null or m.received_at < :createdBefore)`
const LISTED: Listed = {
  table: 'inbound_messages',
  key: 'number',
  columns: INBOUND_COLUMNS,
  conditions: { text: CONDITIONS, sqlite: CONDITIONS },
}

const on = (walk: Walk) => sliceOf<InboundRow>(walkTexts(walk), LISTED)
const by = (index: string, equal: Walk['equal'], condition?: string) =>
  on({
    table: 'inbound_messages m',
    index: `inbound_messages_${index}`,
    equal,
    key: 'm.number',
    ...(condition === undefined ? {} : { condition }),
  })
const SLICES = {
  address: on({
    table: 'inbound_addresses a',
    index: null,
    equal: { 'a.organization_id': 'organizationId', 'a.field': 'field', 'a.address': 'address' },
    key: 'a.message_number',
  }),
  route: by('of_route', { 'm.route_id': 'routeId' }),
  status: by(
    'by_status',
    { 'm.organization_id': 'organizationId', 'm.delivery_status': 'status' },
    'm.delivery_status is not null',
  ),
  domain: by('of_domain', { 'm.domain_id': 'domainId' }),
  organization: by('of_organization', { 'm.organization_id': 'organizationId' }),
}
const bounds = numbersOn('inbound_messages', 'inb')
const OLDEST_SEARCHED = named<{ number: number }>({
  text: `select number from inbound_messages where (organization_id, number) >= (:organizationId, 0)
    and (organization_id, number) < (:organizationId, :high)
    order by organization_id desc, number desc limit 1 offset ${MOST_SEARCHED - 1}`,
  sqlite: `select number from inbound_messages indexed by inbound_messages_of_organization
    where organization_id = :organizationId and number < :high order by number desc limit 1 offset ${MOST_SEARCHED - 1}`,
})
/** The oldest message of the organization from a number on. */
const OWN_FROM = named<{ id: string }>({
  text: `select id from inbound_messages where (organization_id, number) >= (:organizationId, :end)
    and (organization_id, number) < (:organizationId, :high) order by organization_id, number limit 1`,
  sqlite: `select id from inbound_messages indexed by inbound_messages_of_organization
    where organization_id = :organizationId and number >= :end and number < :high order by number limit 1`,
})

/** The newest message of the organization before a number. */
const NEWEST_OWN = named<{ number: number }>({
  text: `select number from inbound_messages where (organization_id, number) >= (:organizationId, :low)
    and (organization_id, number) < (:organizationId, :end) order by organization_id desc, number desc limit 1`,
  sqlite: `select number from inbound_messages indexed by inbound_messages_of_organization
    where organization_id = :organizationId and number >= :low and number < :end order by number desc limit 1`,
})

/** Inbound messages that match every given part of the filter, newest first. */
export function* listInbound(filter: InboundFilter, page: PageRequest, pace: Pace): Work<Page<InboundMessage>> {
  const { low, high } = yield* bounds(filter, page.after)
  const addresses = requestedAddresses(filter)
  const part = filter.part == null ? null : suppressionKey(filter.part)
  const [oldest] =
    part === null
      ? []
      : yield* OLDEST_SEARCHED({ organizationId: filter.organizationId, high: Number.MAX_SAFE_INTEGER })
  const asked = {
    ...filter,
    ...addresses[0],
    ...Object.fromEntries(addresses.map(({ field, address }) => [field, address])),
    part,
    low: Math.max(low, oldest?.number ?? 0),
  }
  return yield* pageOf(walkSteps(SLICES[narrowest(filter)], asked, pace), high, page, {
    toRecord: toInboundMessage,
    ...amongOwn(OWN_FROM, NEWEST_OWN, { ...asked, high }),
    pace,
  })
}

/** The walk that is the shortest: one address, one route, one status, one domain, or the organization. */
function narrowest({ from, to, routeId, status, domainId }: InboundFilter): keyof typeof SLICES {
  if (from !== null || to !== null) return 'address'
  if (routeId !== null) return 'route'
  if (status !== null) return 'status'
  return domainId === null ? 'organization' : 'domain'
}
