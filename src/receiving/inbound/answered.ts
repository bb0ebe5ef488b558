import { cutText } from '../../mail/cut-text.ts'
import { type ReplyTarget, routeEndOf } from '../../mail/reply-address.ts'
import type { Domain } from '../../model/domain.ts'
import { iso, messageEvent } from '../../model/event.ts'
import type { AnsweredMessage, InboundMessage } from '../../model/inbound-message.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { MintId } from '../../os/ids.ts'
import type { AcceptedInbound, Store } from '../../storage/store.ts'
import type { MailHead } from './inbound-result.ts'

/** The message of the organization that a mail answers: by its reply address, else by the Message-IDs that it names. A
 *  Message-ID, or a reply address whose route is gone, leads only to messages of the domain that receives the mail: who
 *  knows one may write it to any domain, and whose key is limited to another domain may not read the message. The route of
 *  a reply address is the choice of the sender. */
export async function answeredMessage(
  { answers, route, domain }: Answering,
  head: Pick<MailHead, 'answers' | 'from'>,
  { inbound }: Pick<Store, 'inbound'>,
): Promise<AnsweredMessage | null> {
  const named = answers === null ? null : await inbound.answered(answers.deliveryId, domain.organizationId)
  const isChosen = route !== null && routeEndOf(route.id) === answers?.routeEnd
  if (named !== null && (isChosen || named.domainId === domain.id)) return named
  return head.answers.length === 0 ? null : inbound.findAnswered(domain, head.answers, head.from)
}

interface Answering {
  /** What the reply address stands for, if the mail came to one. */
  answers: ReplyTarget | null
  /** The route that receives the mail. */
  route: Pick<InboundRoute, 'id'> | null
  domain: Pick<Domain, 'id' | 'organizationId'>
}

/** Received mail and the message that it answers → the event; null for automatic mail, which is no answer of a person. */
export function repliedEvent(
  { id, from, receivedAt, autoSubmitted }: InboundMessage,
  answered: AnsweredMessage | null,
  mintId: MintId,
): AcceptedInbound['taken'][number]['replied'] {
  if (answered === null || autoSubmitted) return null
  const fields = { from: cutText(from, MOST_CHARACTERS), replied_at: iso(receivedAt), inbound_message_id: id }
  const event = messageEvent(mintId('evt'), 'message.replied', answered, answered.to, receivedAt, fields)
  return { event, templateId: answered.templateId }
}

/** An address has at most 254 octets (RFC 5321 §4.5.3.1.3); header fields may have anything. */
const MOST_CHARACTERS = 254
