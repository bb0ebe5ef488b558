import { type InboundRow, toInboundMessage } from '../inbound-rows.ts'
import { type Database, sql } from '../sql.ts'
import type { Inbound } from '../store.ts'

/** Of `inbound_messages m`. */
export const INBOUND_COLUMNS = `m.id, m.organization_id as "organizationId", m.domain_id as "domainId",
  nullif(m.route_id, '') as "routeId", m.action, m.received_at as "receivedAt", m.return_path as "returnPath",
  m.sender as "from", m.recipients, m.subject, m.message_id_header as "messageIdHeader", m.size_bytes as "sizeBytes",
  m.sender_ip as "senderIp", m.helo, m.tls, m.spf, m.dkim, m.dmarc, m.arc, m.parse_error as "parseError",
  m.forwarded_as as "forwardedAs", m.not_forwarded as "notForwarded"`
const GET = sql<InboundRow>(`select ${INBOUND_COLUMNS} from inbound_messages m where m.id = $1`)
const EXISTING = sql<{ id: string }>('select id from inbound_messages where id = any($1::text[])')

/** What is read by IDs. */
export type InboundById = Pick<Inbound, 'get' | 'existing'>

export function inboundRecords(database: Database): InboundById {
  return {
    get: async (id) => {
      const found = await database.row(GET, id)
      return found === null ? null : toInboundMessage(found)
    },
    existing: async (ids) => new Set((await database.rows(EXISTING, ids)).map(({ id }) => id)),
  }
}
