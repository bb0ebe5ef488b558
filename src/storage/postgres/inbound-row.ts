/** Sets the status of deliveries that are final, and of their messages: an open delivery is the message's newest,
 *  since another one is refused beside it. */
export const END_INBOUND = `with ended as (
    update inbound_deliveries set status = $2 where id = any($1::text[]) returning message_id)
  update inbound_messages m set delivery_status = $2 from ended where m.id = ended.message_id`
