import { type Mailbox, parseMailbox } from '../mail/address.ts'
import type { Domain } from '../model/domain.ts'
import type { InboundMessage } from '../model/inbound-message.ts'
import type { InboundRoute } from '../model/inbound-route.ts'
import { type Message, messageStatus } from '../model/message.ts'
import type { MintId } from '../os/ids.ts'
import type { AcceptedMessage, Store } from '../storage/store.ts'
import { plannedDeliveries } from '../submission/draft.ts'
import type { ForwardRoute } from '../submission/forwarding.ts'
import { collapseRecipients } from '../submission/recipients.ts'
import type { MailHead, Seal } from './inbound-result.ts'

/** Mail that a route sends on. Our outbound gives it a return path of its own at the domain's return path host (VERP),
 *  so that SPF holds for us and a bounce comes back to us; it never reaches the author, and nothing here ever answers
 *  anybody. Who wrote it stays as it was, so DMARC at the target rests on the author's DKIM and on our ARC seal. */

/** Whether what the route takes is sent on. */
export function isForward(route: InboundRoute): route is ForwardRoute {
  return route.action.type === 'forward'
}

/** Domain → the key that seals what is sent on in its name: RSA, which every verifier of ARC knows, and one that is
 *  published. Throws when the domain has none: then nothing is lost, the sender tries again. */
export function sealOf(domain: Domain): Seal {
  const rsa = domain.dkim.filter(({ algorithm }) => algorithm === 'rsa-sha256')
  const key = rsa.find(({ state }) => state === 'active') ?? rsa.find(({ state }) => state === 'retiring')
  if (key === undefined) throw new Error(`${domain.name} has no published key to seal forwarded mail with`)
  return { domain: domain.name, selector: key.selector, privateKeyPem: key.privateKeyPem }
}

/** A mail that a route took. */
type RoutedMessage = InboundMessage & { routeId: string }

/** Inbound message, its head, and the sealed mail as mail/mime-content.ts packs it → the outbound message it becomes,
 *  due at once, one delivery to each of the targets `to`; suppressed ones get none. Throws when a target is no address. */
export function forwardOf(
  inbound: RoutedMessage,
  to: string[],
  head: MailHead,
  content: Uint8Array,
  { store, mintId }: { store: Pick<Store, 'suppressions'>; mintId: MintId },
): AcceptedMessage {
  const recipients = collapseRecipients({ to: { asSent: to, mailboxes: to.map(mailboxOf) } })
  const message = describe(mintId('msg'), inbound, head, to)
  const folded = recipients.map((recipient) => recipient.folded)
  const suppressed = store.suppressions.among(message.organizationId, message.domainId, folded)
  const deliveries = plannedDeliveries(message, recipients, suppressed, mintId)
  const status = messageStatus(deliveries.map((delivery) => delivery.status))
  return { message: { ...message, status }, content, deliveries, attempts: [], events: [], suppressions: [] }
}

function describe(id: string, inbound: RoutedMessage, head: MailHead, to: string[]): Message {
  return {
    id,
    organizationId: inbound.organizationId,
    domainId: inbound.domainId,
    keyId: null, // no author of ours asked for it
    mode: 'live',
    source: 'smtp',
    status: 'queued',
    from: head.fromHeader,
    to,
    cc: null,
    bcc: null,
    replyTo: null,
    subject: inbound.subject,
    tags: [],
    metadata: { inbound_id: inbound.id, inbound_route: inbound.routeId },
    templateId: null,
    sizeBytes: inbound.sizeBytes,
    messageIdHeader: inbound.messageIdHeader,
    createdAt: inbound.receivedAt,
    scheduledAt: null,
    expiresAt: null,
    requireTls: false,
    unsubscribe: false,
    trackOpens: false,
    trackClicks: false,
  }
}

function mailboxOf(target: string): Mailbox {
  const mailbox = parseMailbox(target)
  if (mailbox === null) throw new Error(`not an address to forward to: ${JSON.stringify(target)}`)
  return mailbox
}
