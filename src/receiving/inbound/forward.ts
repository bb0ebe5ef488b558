import { type Mailbox, parseMailbox } from '../../mail/address.ts'
import type { Domain } from '../../model/domain.ts'
import { type InboundMessage, KEPT_CHARACTERS } from '../../model/inbound-message.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import { type Message, messageStatus, NO_SENDER_FIELDS } from '../../model/message.ts'
import type { MintId } from '../../os/ids.ts'
import { plannedDeliveries, suppressedEvents } from '../../sending/submission/draft.ts'
import type { ForwardRoute } from '../../sending/submission/forwarding.ts'
import { collapseRecipients } from '../../sending/submission/recipients.ts'
import type { AcceptedMessage, Store } from '../../storage/store.ts'
import type { MailHead, Seal } from './inbound-result.ts'

/** Mail that a route forwards. Outbound gives it a return path at the domain's return path host (VERP), so that SPF
 *  passes for us and bounces return to us; bounces never reach the author and nothing here replies to anyone. The
 *  author stays unchanged, so DMARC at the target depends on the author's DKIM and our ARC seal. Where the mail must change
 *  for the next server (sending/outbound/finished-mail.ts), the author's DKIM breaks; our seal is for the folded lines
 *  (read.ts) and breaks only where parts are re-encoded. */

/** Whether the route forwards its mail. */
export function isForward(route: InboundRoute): route is ForwardRoute {
  return route.action.type === 'forward'
}

/** Domain → its key for ARC seals: a published RSA key, which every verifier supports; null if it has none. */
export function sealOf(domain: Domain): Seal | null {
  const rsa = domain.dkim.filter(({ algorithm }) => algorithm === 'rsa-sha256')
  const key = rsa.find(({ state }) => state === 'active') ?? rsa.find(({ state }) => state === 'retiring')
  return key === undefined ? null : { domain: domain.name, selector: key.selector, privateKeyPem: key.privateKeyPem }
}

/** A mail that a route accepted. */
type RoutedMessage = InboundMessage & { routeId: string }

/** Inbound message, its header facts and the sealed mail (packed by mail/mime-content.ts) → the outbound message, due
 *  at once, with one delivery per target in `to`, for the addresses of `pool`. Suppressed targets get no delivery
 *  attempt. Throws when a target is not an address. */
export async function forwardOf(
  inbound: RoutedMessage,
  { to, pool }: { to: string[]; pool: string },
  head: MailHead,
  content: Uint8Array,
  { store, mintId }: { store: Pick<Store, 'suppressions'>; mintId: MintId },
): Promise<AcceptedMessage> {
  const recipients = collapseRecipients({ to: { asSent: to, mailboxes: to.map(mailboxOf) } })
  const message = describe(mintId('msg'), inbound, head, to)
  const folded = recipients.map((recipient) => recipient.folded)
  const suppressed = await store.suppressions.among(message, folded)
  const deliveries = plannedDeliveries(message, recipients, suppressed, mintId)
  const events = suppressedEvents(message, recipients, suppressed, mintId)
  const status = messageStatus(deliveries.map((delivery) => delivery.status))
  return { message: { ...message, status }, pool, content, deliveries, attempts: [], events, suppressions: [] }
}

function describe(id: string, inbound: RoutedMessage, head: MailHead, to: string[]): Message {
  return {
    ...NO_SENDER_FIELDS,
    id,
    organizationId: inbound.organizationId,
    domainId: inbound.domainId,
    keyId: null, // no API key submitted it
    mode: 'live',
    source: 'smtp',
    status: 'queued',
    // Cut, it may have lost its address.
    from: head.fromHeader.length > KEPT_CHARACTERS ? head.from : head.fromHeader,
    to,
    cc: null,
    bcc: null,
    replyTo: null,
    replies: null,
    subject: inbound.subject,
    metadata: { inbound_id: inbound.id, inbound_route: inbound.routeId },
    templateId: null,
    sizeBytes: inbound.sizeBytes,
    messageIdHeader: inbound.messageIdHeader,
    createdAt: inbound.receivedAt,
    scheduledAt: null,
    expiresAt: null,
    unsubscribe: false,
    trackOpens: false,
    trackClicks: false,
  }
}

function mailboxOf(target: string): Mailbox {
  const mailbox = parseMailbox(target)
  if (mailbox === null) throw new Error(`invalid forwarding address: ${JSON.stringify(target)}`)
  return mailbox
}
