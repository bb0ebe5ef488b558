import type { Feedback, FeedbackAddress } from '../feedback/feedback.ts'
import { type Domain, isOwned } from '../model/domain.ts'
import { chooseRoute, type InboundRoute } from '../model/inbound-route.ts'
import type { SpokenAddress } from '../smtp/session.ts'
import type { Store } from '../storage/store.ts'
import { noSuchRecipient, ownTransaction, relayDenied } from './replies.ts'

/** What a recipient means here. */
export type Destination =
  /** A return path of ours: what comes is about mail that we sent. */
  | { kind: 'feedback'; address: FeedbackAddress; domain: Domain }
  | { kind: 'route'; route: InboundRoute; domain: Domain }

/** Who knows the domains, the routes and the return paths. */
export interface RecipientDeps {
  store: { inboundRoutes: Pick<Store['inboundRoutes'], 'domainByReturnPathHost' | 'domainByName' | 'enabledOf'> }
  feedback: Pick<Feedback, 'recognize'>
  /** Our own name: the domain of a postmaster that is spoken without one. */
  hostname: string
  /** Config `sending.require_verified_domain`: false lets a claim receive like an owned domain. */
  requireVerified: boolean
}

/** RCPT TO → its destination; `already`: those accepted before it in the same transaction. Throws SmtpReply: 550 5.7.1
 *  for a domain that is not ours or that nobody has proved, 550 5.1.1 for an address of ours that nobody reads, our own name's among them, 452 4.5.3
 *  for one that needs a transaction of its own. Only the domain decides whose mail it is: `a%b@d` and `b!a@d` are local
 *  parts like any other. postmaster and abuse have no reader unless a route gives them one (README, Quirks). Contract §5. */
export function meaningOf(spoken: SpokenAddress, already: readonly Destination[], deps: RecipientDeps): Destination {
  const destination = feedbackAt(spoken, deps) ?? routeAt(spoken, deps)
  const first = already[0]
  if (first !== undefined && !shareAnAnswer(first, destination)) throw ownTransaction()
  return destination
}

/** A keyed address exists only for mail that was sent, which takes an owned domain: what comes back of that mail arrives
 *  also after the name was lost. Everything else at the host needs a name that is owned now. */
function feedbackAt(
  spoken: SpokenAddress,
  { store: { inboundRoutes }, feedback, requireVerified }: RecipientDeps,
): Destination | null {
  const domain = inboundRoutes.domainByReturnPathHost(spoken.domain)
  if (domain === null) return null
  const address = feedback.recognize(spoken.local)
  if (address !== null && address.kind !== 'complaints') return { kind: 'feedback', address, domain }
  if (!isOwned(domain, requireVerified)) return null // the name itself may be somebody's
  if (address === null) throw noSuchRecipient(spoken.address)
  return { kind: 'feedback', address, domain }
}

function routeAt(
  spoken: SpokenAddress,
  { store: { inboundRoutes }, hostname, requireVerified }: RecipientDeps,
): Destination {
  const domain = inboundRoutes.domainByName(spoken.domain)
  if (domain === null || !isOwned(domain, requireVerified)) {
    throw spoken.domain === hostname ? noSuchRecipient(spoken.address) : relayDenied(spoken.address)
  }
  const choice = chooseRoute(inboundRoutes.enabledOf(domain.organizationId), spoken)
  if (choice === null) throw noSuchRecipient(spoken.address)
  return { kind: 'route', route: choice.route, domain }
}

/** DATA has one answer for all recipients, so none may be refused for what another asks. */
function shareAnAnswer(a: Destination, b: Destination): boolean {
  if (a.kind !== 'route' || b.kind !== 'route') return a.kind === b.kind
  return a.route.authentication === b.route.authentication
}
