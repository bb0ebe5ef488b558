import type { Feedback, FeedbackAddress } from '../feedback/feedback.ts'
import { type Domain, isOwned } from '../model/domain.ts'
import { chooseRoute, type InboundRoute, isReservedMailbox, type RouteAuthentication } from '../model/inbound-route.ts'
import type { EnvelopeAddress } from '../smtp-server/session.ts'
import type { Store } from '../storage/store.ts'
import { noSuchRecipient, ownTransaction, relayDenied } from './replies.ts'

/** What a recipient means here. */
export type RecipientTarget =
  /** A return path of ours: what comes is about mail that we sent. */
  | { kind: 'feedback'; address: FeedbackAddress; domain: Domain }
  | { kind: 'route'; route: InboundRoute; domain: Domain }
  /** Postmaster or abuse, whom no route takes: the mail is stored for the organization. */
  | { kind: 'reserved'; domain: Domain }

/** Who knows the domains, the routes and the return paths. */
export interface RecipientDeps {
  store: { inboundRoutes: Pick<Store['inboundRoutes'], 'domainByReturnPathHost' | 'domainByName' | 'enabledOf'> }
  feedback: Pick<Feedback, 'recognize'>
  /** Our own name: the domain of a postmaster that is spoken without one. What nobody reads there goes to postmaster of the
   *  closest owned name above it: its owner publishes our name. */
  hostname: string
  /** Config `sending.require_verified_domain`: false lets a claim receive like an owned domain. */
  requireVerified: boolean
}

/** RCPT TO → its destination; `already`: those accepted before it in the same transaction. Throws SmtpReply: 550 5.7.1
 *  for a domain that is not ours or that nobody has proved, 550 5.1.1 for an address of ours that nobody reads, our own name's among them, 452 4.5.3
 *  for one that needs a transaction of its own. Only the domain decides whose mail it is: `a%b@d` and `b!a@d` are local
 *  parts like any other. postmaster and abuse are taken wherever a domain receives mail (RFC 5321 §4.5.1, RFC 2142).
 *  Contract §5 and §7. */
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

/** A keyed address exists only for mail that was sent, which takes an owned domain: what comes back of that mail arrives
 *  also after the name was lost. Everything else at the host needs a name that is owned now. */
function feedbackAt(
  spoken: EnvelopeAddress,
  { store: { inboundRoutes }, feedback, requireVerified }: RecipientDeps,
): RecipientTarget | null {
  const domain = inboundRoutes.domainByReturnPathHost(spoken.domain)
  if (domain === null) return null
  const address = feedback.recognize(spoken.local)
  if (address !== null && address.kind !== 'complaints') return { kind: 'feedback', address, domain }
  if (!isOwned(domain, requireVerified)) return null // the name itself may be somebody's
  if (address === null) throw noSuchRecipient(spoken.address)
  return { kind: 'feedback', address, domain }
}

function routeAt(spoken: EnvelopeAddress, deps: RecipientDeps): RecipientTarget {
  const isOurName = spoken.domain === deps.hostname
  const domain = ownedAt(spoken.domain, deps)
  const above = isOurName ? ownedAbove(spoken.domain, deps) : null
  const destination = (domain && receiverIn(domain, spoken, deps)) ?? (above && receiverIn(above, spoken, deps))
  if (destination !== null) return destination
  throw isOurName || domain !== null ? noSuchRecipient(spoken.address) : relayDenied(spoken.address)
}

/** Of a name below its own a domain reads the reserved mailboxes only. */
function receiverIn(domain: Domain, spoken: EnvelopeAddress, { store }: RecipientDeps): RecipientTarget | null {
  const routes = store.inboundRoutes.enabledOf(domain.organizationId)
  const address = { local: spoken.local, domain: domain.name }
  const isReserved = isReservedMailbox(routes, address)
  const choice = isReserved || domain.name === spoken.domain ? chooseRoute(routes, address) : null
  if (choice !== null) return { kind: 'route', route: choice.route, domain }
  return isReserved ? { kind: 'reserved', domain } : null
}

function ownedAt(name: string, { store, requireVerified }: RecipientDeps): Domain | null {
  const domain = store.inboundRoutes.domainByName(name)
  return domain !== null && isOwned(domain, requireVerified) ? domain : null
}

/** The closest name above this one that somebody owns. */
function ownedAbove(name: string, deps: RecipientDeps): Domain | null {
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const domain = ownedAt(name.slice(dot + 1), deps)
    if (domain !== null) return domain
  }
  return null
}

/** DATA has one answer for all recipients, so none may be refused for what another asks. */
function shareAnAnswer(a: RecipientTarget, b: RecipientTarget): boolean {
  return proofOf(a) === proofOf(b)
}

/** What the mail must prove; null for what is about mail of ours. */
function proofOf(destination: RecipientTarget): RouteAuthentication | null {
  if (destination.kind === 'feedback') return null
  return destination.kind === 'route' ? destination.route.authentication : 'none'
}
