import type { Feedback, FeedbackAddress } from '../feedback/feedback.ts'
import type { Domain } from '../model/domain.ts'
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
}

/** RCPT TO → its destination; `already`: those accepted before it in the same transaction. Throws SmtpReply: 550 5.7.1
 *  for a domain that is not ours, 550 5.1.1 for an address of ours that nobody reads, our own name's among them, 452 4.5.3
 *  for one that needs a transaction of its own. Only the domain decides whose mail it is: `a%b@d` and `b!a@d` are local
 *  parts like any other. postmaster and abuse have no reader unless a route gives them one (README, Quirks). Contract §5. */
export function meaningOf(
  spoken: SpokenAddress,
  already: readonly Destination[],
  { store, feedback, hostname }: RecipientDeps,
): Destination {
  const destination = feedbackAt(spoken, store, feedback) ?? routeAt(spoken, store, hostname)
  const first = already[0]
  if (first !== undefined && !shareAnAnswer(first, destination)) throw ownTransaction()
  return destination
}

function feedbackAt(
  spoken: SpokenAddress,
  { inboundRoutes }: RecipientDeps['store'],
  feedback: RecipientDeps['feedback'],
): Destination | null {
  const domain = inboundRoutes.domainByReturnPathHost(spoken.domain)
  if (domain === null) return null
  const address = feedback.recognize(spoken.local)
  if (address === null) throw noSuchRecipient(spoken.address)
  return { kind: 'feedback', address, domain }
}

function routeAt(spoken: SpokenAddress, { inboundRoutes }: RecipientDeps['store'], hostname: string): Destination {
  const domain = inboundRoutes.domainByName(spoken.domain)
  if (domain === null) throw spoken.domain === hostname ? noSuchRecipient(spoken.address) : relayDenied(spoken.address)
  const choice = chooseRoute(inboundRoutes.enabledOf(domain.organizationId), spoken)
  if (choice === null) throw noSuchRecipient(spoken.address)
  return { kind: 'route', route: choice.route, domain }
}

/** DATA has one answer for all recipients, so none may be refused for what another asks. */
function shareAnAnswer(a: Destination, b: Destination): boolean {
  if (a.kind !== 'route' || b.kind !== 'route') return a.kind === b.kind
  return a.route.authentication === b.route.authentication
}
