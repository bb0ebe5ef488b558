/** Of `inbound_messages m`. */
export const INBOUND_COLUMNS = `m.id, m.organization_id as "organizationId", m.domain_id as "domainId",
  case when m.route_id <> '' then m.route_id end as "routeId", m.action, m.received_at::float8 as "receivedAt", m.return_path as "returnPath",
  m.sender as "from", m.recipients, m.subject, m.message_id_header as "messageIdHeader",
  m.size_bytes::float8 as "sizeBytes", m.sender_ip as "senderIp", m.helo, m.tls, m.spf, m.dkim, m.dmarc, m.arc,
  m.parse_error as "parseError", m.forwarded_as as "forwardedAs", m.not_forwarded as "notForwarded"`

/** Sets the status of deliveries that are final, and of their messages: an open delivery is the message's newest,
 *  since another one is refused beside it. */
export const END_INBOUND = `with ended as (
    update inbound_deliveries set status = $2 where id = any($1::text[]) returning message_id)
  update inbound_messages m set delivery_status = $2 from ended where m.id = ended.message_id`
