import type { InboundMessage } from '../../model/inbound-message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { InboundFilter } from '../store.ts'

/** Of `inbound_messages m`. */
export const INBOUND_COLUMNS = `m.id, m.organization_id as "organizationId", m.domain_id as "domainId",
  nullif(m.route_id, '') as "routeId", m.action, m.received_at::float8 as "receivedAt", m.return_path as "returnPath",
  m.sender as "from", m.recipients, m.subject, m.message_id_header as "messageIdHeader",
  m.size_bytes::float8 as "sizeBytes", m.sender_ip as "senderIp", m.helo, m.tls, m.spf, m.dkim, m.dmarc, m.arc,
  m.parse_error as "parseError", m.forwarded_as as "forwardedAs", m.not_forwarded as "notForwarded",
  m.in_reply_to as "inReplyTo", m.auto_submitted::boolean as "autoSubmitted"`

/** A row of INBOUND_COLUMNS. */
export type InboundRow = Omit<InboundMessage, 'to' | 'verdicts' | 'notForwarded'> &
  InboundMessage['verdicts'] & { recipients: string; notForwarded: string | null }

export function toInboundMessage(row: InboundRow): InboundMessage {
  const { spf, dkim, dmarc, arc } = row
  return {
    id: row.id,
    organizationId: row.organizationId,
    domainId: row.domainId,
    routeId: row.routeId,
    action: row.action,
    receivedAt: row.receivedAt,
    returnPath: row.returnPath,
    from: row.from,
    to: JSON.parse(row.recipients),
    subject: row.subject,
    messageIdHeader: row.messageIdHeader,
    sizeBytes: row.sizeBytes,
    senderIp: row.senderIp,
    helo: row.helo,
    tls: row.tls,
    verdicts: { spf, dkim, dmarc, arc },
    parseError: row.parseError,
    forwardedAs: row.forwardedAs,
    notForwarded: row.notForwarded === null ? [] : JSON.parse(row.notForwarded),
    inReplyTo: row.inReplyTo,
    autoSubmitted: row.autoSubmitted,
  }
}

/** Column `not_forwarded`; null if the list is empty. */
export function packNotForwarded({ notForwarded }: InboundMessage): string | null {
  return notForwarded.length === 0 ? null : JSON.stringify(notForwarded)
}

/** An address by which inbound messages are found, folded. */
export interface InboundAddress {
  field: 'from' | 'to'
  address: string
}

/** The addresses of a message, each once. */
export function addressesOf({ from, to }: InboundMessage): InboundAddress[] {
  return [...folded('from', from === '' ? [] : [from]), ...folded('to', to)]
}

/** The requested addresses, the rarer one first: an address receives mail from many, but seldom sends. */
export function requestedAddresses({ from, to }: InboundFilter): InboundAddress[] {
  return [...folded('from', from === null ? [] : [from]), ...folded('to', to === null ? [] : [to])]
}

function folded(field: InboundAddress['field'], emails: readonly string[]): InboundAddress[] {
  return [...new Set(emails.map(suppressionKey))].map((address) => ({ field, address }))
}
