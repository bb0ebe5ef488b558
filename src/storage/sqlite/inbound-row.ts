import type { InboundMessage } from '../../model/inbound-message.ts'

export const INBOUND_COLUMNS = `m.number, m.id, m.organization_id as organizationId, m.domain_id as domainId,
  nullif(m.route_id, '') as routeId, m.action, m.received_at as receivedAt, m.return_path as returnPath, m.sender as "from",
  m.recipients, m.subject, m.message_id_header as messageIdHeader, m.size_bytes as sizeBytes, m.sender_ip as senderIp,
  m.helo, m.tls, m.spf, m.dkim, m.dmarc, m.arc, m.parse_error as parseError, m.forwarded_as as forwardedAs,
  m.not_forwarded as notForwarded`

export type InboundRow = Omit<InboundMessage, 'to' | 'verdicts' | 'notForwarded'> &
  InboundMessage['verdicts'] & { number: number; recipients: string; notForwarded: string | null }

export function toInboundMessage({
  number: _,
  recipients,
  spf,
  dkim,
  dmarc,
  arc,
  notForwarded,
  ...rest
}: InboundRow): InboundMessage {
  return {
    ...rest,
    to: JSON.parse(recipients),
    verdicts: { spf, dkim, dmarc, arc },
    notForwarded: notForwarded === null ? [] : JSON.parse(notForwarded),
  }
}
