import { type InboundRow, requestedAddresses, toInboundMessage } from '../inbound-rows.ts'
import { idsOf, toPage } from '../page.ts'
import type { Inbound, InboundFilter } from '../store.ts'
import { acceptInboundKind, inboundContents, inboundLimit, limitedCounters } from './accept-inbound.ts'
import type { ContentKind, LargeContents } from './contents.ts'
import type { MailLane } from './group.ts'
import type { InboundQueue } from './inbound-queue.ts'
import { INBOUND_COLUMNS } from './inbound-row.ts'
import type { Reads } from './reads.ts'
import type { Usage } from './usage.ts'
import { type Listed, sliceText, walkSlices } from './walk.ts'

const GET = `select ${INBOUND_COLUMNS} from inbound_messages m where m.id = $1`
const CONTENT = `select c.content from inbound_messages m
  join contents c on c.owner_id = m.content_id and c.kind = $2 where m.id = $1`

const hasAddress = (field: 'from' | 'to', parameter: string) => `(${parameter}::text is null or exists (
  select from inbound_addresses o where o.organization_id = $1 and o.field = '${field}' and o.address = ${parameter}
    and o.message_id = m.id))`
const LISTED: Listed = {
  columns: INBOUND_COLUMNS,
  filter: `m.organization_id = $1 and ${hasAddress('from', '$2')} and ${hasAddress('to', '$3')}
    and ($4::text is null or m.route_id = $4) and ($5::text is null or m.domain_id = $5)
    and ($6::text is null or m.delivery_status = $6) and m.received_at >= $7::bigint and m.received_at < $8::bigint`,
  parameters: 8,
}
const byAddress = (field: 'from' | 'to', parameter: string) =>
  sliceText(
    {
      from: `inbound_addresses a join inbound_messages m on m.id = a.message_id
        where a.organization_id = $1 and a.field = '${field}' and a.address = ${parameter}`,
      key: 'a.message_id',
    },
    LISTED,
  )
const by = (condition: string) => sliceText({ from: `inbound_messages m where ${condition}`, key: 'm.id' }, LISTED)
const LISTS = {
  from: byAddress('from', '$2'),
  to: byAddress('to', '$3'),
  route: by('m.route_id = $4'),
  status: by('m.organization_id = $1 and m.delivery_status = $6'),
  domain: by('m.domain_id = $5'),
  organization: by('m.organization_id = $1'),
}

export function postgresInbound(
  reads: Reads,
  lane: MailLane,
  inside: { large: LargeContents; usage: Usage; queue: InboundQueue },
): Inbound {
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
    get: async (id) => {
      const [row] = await reads.query<InboundRow>(GET, [id])
      return row === undefined ? null : toInboundMessage(row)
    },
    list: async (filter, page) => {
      const { organizationId, routeId, domainId, status, createdAfter, createdBefore } = filter
      const addresses = new Map(requestedAddresses(filter).map(({ field, address }) => [field, address]))
      const asked = [addresses.get('from') ?? null, addresses.get('to') ?? null, routeId, domainId, status]
      const range = [createdAfter ?? 0, createdBefore ?? Number.MAX_SAFE_INTEGER]
      const rows = await walkSlices<InboundRow>(reads, LISTS[narrowest(filter)], [organizationId, ...asked, ...range], {
        ...idsOf('inb', filter, page),
        limit: page.limit + 1,
      })
      return toPage(rows, page, toInboundMessage)
    },
    raw: (id) => contentOf(id, 'raw'),
    parsed: (id) => contentOf(id, 'parsed'),
  }
}

/** The index that finds the fewest: one address, one route, one status, one domain, or the organization. */
function narrowest(filter: InboundFilter): keyof typeof LISTS {
  const [address] = requestedAddresses(filter)
  if (address !== undefined) return address.field
  if (filter.routeId !== null) return 'route'
  if (filter.status !== null) return 'status'
  return filter.domainId === null ? 'organization' : 'domain'
}
