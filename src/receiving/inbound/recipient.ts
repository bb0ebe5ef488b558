import { isReportAddress } from '../../domains/report-address.ts'
import type { Mailbox } from '../../mail/address.ts'
import { type ReplyTarget, routeEndOf } from '../../mail/reply-address.ts'
import { type Domain, isOwned } from '../../model/domain.ts'
import {
  chooseRoute,
  foldLocalPart,
  type InboundRoute,
  isReservedMailbox,
  type RouteAuthentication,
} from '../../model/inbound-route.ts'
import { FORWARD_SENDER } from '../../sending/submission/forwarding.ts'
import type { Store } from '../../storage/store.ts'
import type { Feedback, FeedbackAddress } from '../feedback/feedback.ts'
import type { EnvelopeAddress } from '../smtp-server/session.ts'
import { noSuchRecipient, ownTransaction, relayDenied } from './replies.ts'
import type { ReplyOf } from './reply-of.ts'

/** The meaning of an inbound recipient. */
export type RecipientTarget =
  /** One of our return paths: the mail is a report about mail we sent. */
  | { kind: 'feedback'; address: FeedbackAddress; domain: Domain }
  /** `answers`: what the reply address stands for; null for other addresses. Its route may be another one, which is gone. */
  | { kind: 'route'; route: InboundRoute; domain: Domain; answers: ReplyTarget | null }
  /** The address of one canary mail that this server sent to itself. */
  | { kind: 'canary'; canaryId: string }
  /** For DMARC and TLS reports about the domain. */
  | { kind: 'policy_report'; domain: Domain }
  /** Postmaster or abuse without a route: the mail is stored for the organization. */
  | { kind: 'reserved'; domain: Domain }

/** Recipients with the same one share a record. */
export const partIdOf = (route: Pick<InboundRoute, 'id'> | null, domain: Pick<Domain, 'id'>): string =>
  `${route?.id ?? ''} ${domain.id}`

/** Sources of domains, routes and return paths. */
export interface RecipientDeps {
  store: { snapshot: Pick<Store['snapshot'], 'domainByReturnPathHost' | 'domainByName' | 'enabledRoutes'> }
  feedback: Pick<Feedback, 'recognize'>
  /** Local part and organization → what the reply address stands for; null for any other address, and after its time. */
  replyOf: ReplyOf
  /** Our own name: the domain of a postmaster address without one. Mail to it that no route reads goes to the
   *  postmaster of the closest owned parent domain, whose owner publishes our name. */
  hostname: string
  /** Config `sending.require_verified_domain`. If false, a claimed domain receives mail like an owned one. */
  requireVerified: boolean
  /** Local part → the canary that it belongs to. Null: canaries are off. */
  canaryOf?: ((local: string) => string | null) | null
  /** Sender of mail to users (config `users.mail_from`); absent or null: every address may have a route. */
  userMailSender?: Pick<Mailbox, 'local' | 'domain'> | null
}

/** RCPT TO → its target; `already` holds the accepted recipients of the transaction. Throws SmtpReply: 550 5.7.1 for a
 *  domain that is not ours or not verified, 550 5.1.1 for an unknown address in one of our domains, 452 4.5.3 for a
 *  recipient that needs a separate transaction. Only the domain decides: `a%b@d` and `b!a@d` are ordinary local parts.
 *  postmaster and abuse exist wherever a domain receives mail (RFC 5321 §4.5.1, RFC 2142). */
export function targetOf(
  spoken: EnvelopeAddress,
  already: readonly RecipientTarget[],
  deps: RecipientDeps,
): RecipientTarget {
  const destination = feedbackAt(spoken, deps) ?? routeAt(spoken, deps)
  const first = already[0]
  if (first !== undefined && !shareAnAnswer(first, destination)) throw ownTransaction()
  return destination
}

/** A keyed address exists only for mail that was sent, which requires an owned domain; reports about that mail arrive
 *  even after the domain was lost. All other addresses need current ownership. */
function feedbackAt(
  spoken: EnvelopeAddress,
  { store: { snapshot }, feedback, requireVerified, canaryOf }: RecipientDeps,
): RecipientTarget | null {
  const domain = snapshot.domainByReturnPathHost(spoken.domain)
  if (domain === null) return null
  const address = feedback.recognize(spoken.local)
  if (address !== null && address.kind !== 'complaints') return { kind: 'feedback', address, domain }
  if (!isOwned(domain, requireVerified)) return null // the name itself may belong to another organization
  if (isReportAddress(spoken.local, domain)) return { kind: 'policy_report', domain }
  if (address !== null) return { kind: 'feedback', address, domain }
  const canaryId = canaryOf?.(spoken.local) ?? null
  if (canaryId === null) throw noSuchRecipient(spoken.address)
  return { kind: 'canary', canaryId }
}

function routeAt(spoken: EnvelopeAddress, deps: RecipientDeps): RecipientTarget {
  // A reply may quote a link that signs its author in or confirms a forward, so no route of the domain's organization may
  // read it.
  const isForwardSender = foldLocalPart(spoken.local) === FORWARD_SENDER
  if (isForwardSender || isSame(spoken, deps.userMailSender)) throw noSuchRecipient(spoken.address)
  const isOurName = spoken.domain === deps.hostname
  const domain = ownedAt(spoken.domain, deps)
  const above = isOurName ? ownedAbove(spoken.domain, deps) : null
  const destination = (domain && receiverIn(domain, spoken, deps)) ?? (above && receiverIn(above, spoken, deps))
  if (destination !== null) return destination
  throw isOurName || domain !== null ? noSuchRecipient(spoken.address) : relayDenied(spoken.address)
}

/** Compares local parts as routes do. */
const isSame = ({ local, domain }: EnvelopeAddress, other: RecipientDeps['userMailSender'] = null) =>
  other !== null && domain === other.domain && foldLocalPart(local) === foldLocalPart(other.local)

/** A reply address goes to its route, whatever the patterns of the routes are; if that is gone, to the one that matches.
 *  In subdomains of its name, a domain receives only the reserved mailboxes. */
function receiverIn(
  domain: Domain,
  spoken: EnvelopeAddress,
  { store, replyOf }: RecipientDeps,
): RecipientTarget | null {
  const routes = store.snapshot.enabledRoutes(domain.organizationId)
  const reply = domain.name === spoken.domain ? replyOf(spoken.local, domain.organizationId) : null
  const replyRoute = reply && routes.find(({ id }) => routeEndOf(id) === reply.routeEnd)
  if (reply && replyRoute) return { kind: 'route', route: replyRoute, domain, answers: reply }
  const address = { local: spoken.local, domain: domain.name }
  const isReserved = isReservedMailbox(routes, address)
  const choice = isReserved || domain.name === spoken.domain ? chooseRoute(routes, address) : null
  if (choice !== null) return { kind: 'route', route: choice.route, domain, answers: reply }
  return isReserved ? { kind: 'reserved', domain } : null
}

function ownedAt(name: string, { store, requireVerified }: RecipientDeps): Domain | null {
  const domain = store.snapshot.domainByName(name)
  return domain !== null && isOwned(domain, requireVerified) ? domain : null
}

/** The closest owned parent domain. */
function ownedAbove(name: string, deps: RecipientDeps): Domain | null {
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const domain = ownedAt(name.slice(dot + 1), deps)
    if (domain !== null) return domain
  }
  return null
}

/** DATA has one reply for all recipients, so no recipient may fail because of another's policy. */
function shareAnAnswer(a: RecipientTarget, b: RecipientTarget): boolean {
  if (a.kind === 'canary' || b.kind === 'canary') return false
  if (a.kind === 'policy_report' || b.kind === 'policy_report') return a.kind === b.kind && a.domain.id === b.domain.id
  return proofOf(a) === proofOf(b)
}

/** The route's authentication policy; null for reports about our mail. */
function proofOf(destination: RecipientTarget): RouteAuthentication | null {
  if (destination.kind !== 'route' && destination.kind !== 'reserved') return null
  return destination.kind === 'route' ? destination.route.authentication : 'none'
}
