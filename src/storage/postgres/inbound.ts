import { suppressionKey } from '../../model/suppression.ts'
import { type InboundRow, requestedAddresses, toInboundMessage } from '../inbound-rows.ts'
import { idsOf, toPage } from '../page.ts'
import { INBOUND_COLUMNS, type InboundById } from '../records/inbound.ts'
import { MOST_SEARCHED } from '../roles/inbound.ts'
import type { Inbound, InboundFilter } from '../store.ts'
import { acceptInboundKind, inboundContents, inboundLimit, limitedCounters } from './accept-inbound.ts'
import type { ContentKind, LargeContents } from './contents.ts'
import type { MailLane } from './group.ts'
import type { InboundQueue } from './inbound-queue.ts'
import type { Reads } from './reads.ts'
import type { Usage } from './usage.ts'
import { type Listed, sliceOf, walkSteps } from './walk.ts'

const CONTENT = `select c.content from inbound_messages m
  join contents c on c.owner_id = m.content_id and c.kind = $2 where m.id = $1`

const hasAddress = (field: 'from' | 'to') => `(:${field}::text is null or exists (
  select 1 from inbound_addresses o where o.organization_id = m.organization_id and o.field = '${field}'
    and o.address = :${field} and o.message_id = m.id))`
const LISTED: Listed = {
  table: 'inbound_messages',
  columns: INBOUND_COLUMNS,
  conditions: `m.organization_id = :organizationId and ${hasAddress('from')} and ${hasAddress('to')}
    and (:routeId::text is null or m.route_id = :routeId) and (:domainId::text is null or m.domain_id = :domainId)
    and (:status::text is null or m.delivery_status = :status)
    and (:part::text is null or exists (
      select 1 from inbound_addresses p where p.message_id = m.id and position(:part in p.address) > 0))
    and (:createdAfter::bigint is null or m.received_at >= :createdAfter)
    and (:createdBefore::bigint is null or m.received_at < :createdBefore)`,
}
const OLDEST_SEARCHED = `select id from inbound_messages where organization_id = $1
  order by id desc limit 1 offset ${MOST_SEARCHED - 1}`
const byAddress = (field: 'from' | 'to') =>
  sliceOf<InboundRow>(
    LISTED,
    `select message_id as id from inbound_addresses
      where organization_id = :organizationId and field = '${field}' and address = :${field}
        and message_id >= :low and message_id < :high
      order by message_id desc limit :size`,
  )
const by = (condition: string) =>
  sliceOf<InboundRow>(
    LISTED,
    `select id from inbound_messages where ${condition} and id >= :low and id < :high order by id desc limit :size`,
  )
const SLICES = {
  from: byAddress('from'),
  to: byAddress('to'),
  route: by('route_id = :routeId'),
  status: by('organization_id = :organizationId and delivery_status = :status'),
  domain: by('domain_id = :domainId'),
  organization: by('organization_id = :organizationId'),
}

export function postgresInbound(
  reads: Reads,
  lane: MailLane,
  inside: { large: LargeContents; usage: Usage; queue: InboundQueue },
): Omit<Inbound, keyof InboundById> {
  const { large, usage } = inside
  const accept = acceptInboundKind(inside)
  const contentOf = async (id: string, kind: ContentKind) => {
    const [row] = await reads.query<{ content: Uint8Array }>(CONTENT, [id, kind])
    return row === undefined ? null : new Uint8Array(row.content)
  }
  return {
    accept: (mail) =>
      large.ahead(
        inboundContents(mail),
        () => lane.write(accept, mail),
        async () => inboundLimit(mail, usage, await usage.usedOf(reads, limitedCounters(mail, usage))),
      ),
    list: async (filter, page) => {
      const addresses = requestedAddresses(filter).map(({ field, address }) => [field, address])
      const ids = idsOf('inb', filter, page)
      const part = filter.part == null ? null : suppressionKey(filter.part)
      if (part !== null) {
        const [oldest] = await reads.query<{ id: string }>(OLDEST_SEARCHED, [filter.organizationId])
        if (oldest !== undefined && oldest.id > ids.low) ids.low = oldest.id
      }
      const asked = { ...filter, part, ...Object.fromEntries(addresses), ...ids }
      const step = walkSteps(reads, SLICES[narrowest(filter)], asked, () => performance.now())
      const found: InboundRow[] = []
      for (let high: string | null = ids.high; high !== null && found.length <= page.limit; ) {
        const { rows, end }: Awaited<ReturnType<typeof step>> = await step(high, page.limit + 1 - found.length)
        found.push(...rows)
        high = end
      }
      return toPage(found, page, toInboundMessage)
    },
    raw: (id) => contentOf(id, 'raw'),
    parsed: (id) => contentOf(id, 'parsed'),
  }
}

/** The index that finds the fewest: one address, one route, one status, one domain, or the organization. */
function narrowest(filter: InboundFilter): keyof typeof SLICES {
  const [address] = requestedAddresses(filter)
  if (address !== undefined) return address.field
  if (filter.routeId !== null) return 'route'
  if (filter.status !== null) return 'status'
  return filter.domainId === null ? 'organization' : 'domain'
}
