import { type Config, type Setting, sendingAddressesOf } from '../config/load.ts'
import type { EventStream } from '../events/event-stream/event-stream.ts'
import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { Canary } from '../model/canary.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { checkWebhookUrl, type Post } from '../net/https/requests.ts'
import { createAddressGuard } from '../net/ip.ts'
import type { HealthWatch } from '../operating/health/watch.ts'
import type { WallClock } from '../os/clock.ts'
import type { Notifier } from '../os/notifier.ts'
import type { DeliveryQueue } from '../sending/outbound/queue.ts'
import { createRelayChoice } from '../sending/outbound/relays/relay-choice.ts'
import type { RelayCounters } from '../sending/outbound/relays/relay-counters.ts'
import type { DestinationState } from '../sending/outbound/schedule/destination-state.ts'
import { findRoute } from '../sending/outbound/schedule/route.ts'
import type { AddressCounters } from '../sending/outbound/senders/address-counters.ts'
import type { Forwarding } from '../sending/submission/forwarding.ts'
import type { Submission } from '../sending/submission/submission.ts'
import type { UserMail } from '../sending/submission/user-mail.ts'
import type { MtaStsPolicies } from '../sending/tls-policy/mta-sts.ts'
import { withDomainNames } from '../web/api/domain-names.ts'
import { createDownloading, type WhileDownloading } from '../web/api/downloading.ts'
import type { Operation } from '../web/api/operation.ts'
import { alertOperations } from '../web/api/routes/alerts.ts'
import { apiKeyOperations } from '../web/api/routes/api-keys.ts'
import { auditLogOperations } from '../web/api/routes/audit-log.ts'
import { billingOperations } from '../web/api/routes/billing.ts'
import { blockedLinkOperations } from '../web/api/routes/blocked-links.ts'
import { canaryOperations } from '../web/api/routes/canary.ts'
import { configurationOperations } from '../web/api/routes/configuration.ts'
import { domainOperations } from '../web/api/routes/domains.ts'
import { eventOperations } from '../web/api/routes/events.ts'
import { explainOperations } from '../web/api/routes/explain.ts'
import { healthOperations } from '../web/api/routes/health-checks.ts'
import { inboundMessageOperations } from '../web/api/routes/inbound-messages.ts'
import { inboundRouteOperations } from '../web/api/routes/inbound-routes.ts'
import { invitationOperations } from '../web/api/routes/invitations.ts'
import { meOperations } from '../web/api/routes/me.ts'
import { actOperations } from '../web/api/routes/messages-act.ts'
import { analyzeOperations } from '../web/api/routes/messages-analyze.ts'
import { messagePartOperations } from '../web/api/routes/messages-parts.ts'
import { readOperations } from '../web/api/routes/messages-read.ts'
import { sendOperations } from '../web/api/routes/messages-send.ts'
import { nodeOperations } from '../web/api/routes/nodes.ts'
import { organizationOperations } from '../web/api/routes/organizations.ts'
import { policyReportOperations } from '../web/api/routes/policy-reports.ts'
import { qualityOperations } from '../web/api/routes/quality.ts'
import { queueOperations } from '../web/api/routes/queues.ts'
import type { AttachmentOf } from '../web/api/routes/raw-mail.ts'
import { recipientOperations } from '../web/api/routes/recipients.ts'
import { relayOperations } from '../web/api/routes/relays.ts'
import { sendingAddressOperations } from '../web/api/routes/sending-addresses.ts'
import { sessionOperations } from '../web/api/routes/sessions.ts'
import { statsOperations } from '../web/api/routes/stats.ts'
import { suppressionListOperations } from '../web/api/routes/suppression-lists.ts'
import { suppressionOperations } from '../web/api/routes/suppressions.ts'
import { templateOperations } from '../web/api/routes/templates.ts'
import { userOperations } from '../web/api/routes/users.ts'
import { webhookOperations } from '../web/api/routes/webhooks.ts'
import type { Streams } from '../web/api/streams.ts'
import { alertChannels } from './alerts.ts'
import type { Parsing } from './parsing/parsing.ts'
import { relaySettingsOf } from './relays.ts'
import { type SubmissionContext, sendingRules } from './submission.ts'

/** What the operations use. The server, the command line and tests each provide their own. */
export interface OperationContext extends SubmissionContext, Parsing {
  /** The configuration keys with their sources; empty if absent. */
  settings?: () => readonly Setting[]
  clock: WallClock
  /** Has no cache: callers have just changed DNS records. */
  resolver: Resolver
  /** Derived from secrets of the store, which the command line reads only when needed. */
  recipientParts: () => RecipientPartsOf | Promise<RecipientPartsOf>
  eventStream: EventStream
  /** Open HTTP streams of events. */
  streams: Streams
  health: HealthWatch
  /** Posts to the operator's channels of alerts. */
  postAlert: Post
  wait: Notifier['wait']
  delivery: DeliveryView
  inboundAttachment: AttachmentOf
}

/** What sends and receives, beside the context. */
export interface Services {
  submission: Submission
  forwarding: Forwarding
  userMail: UserMail
  /** Null if canary mails are off. `run` sends one to every mailbox now. */
  canaries: { run: (now: number) => Promise<Canary[]> } | null
}

/** What the operations show of delivery. */
export interface DeliveryView {
  /** MTA-STS policies of mail domains; the cached ones if no delivery engine runs. */
  policies: Pick<MtaStsPolicies, 'find'>
  queue: Pick<DeliveryQueue, 'chosen'> & {
    /** Null if no delivery engine runs. */
    stateOf(destination: string, queue: string): DestinationState | null
  }
  /** Attempts through relays. */
  relayCounters: Pick<RelayCounters, 'flush'>
  /** Attempts from sending addresses. */
  addressCounters: AddressCounters
}

/** The view of a process that delivers no mail: the rules about relays alone decide, and nothing is known of failures. */
export function withoutDelivery(config: Config, policies: DeliveryView['policies']): DeliveryView {
  const relays = createRelayChoice(relaySettingsOf(config))
  const chosen: DeliveryView['queue']['chosen'] = (queue, destination) =>
    destination === null
      ? relays.withoutDestination(queue)
      : relays.of(queue, destination, { isBlocked: false, isUsedUp: false, takesTry: false })
  return {
    policies,
    queue: { chosen, stateOf: () => null },
    relayCounters: { flush: async () => {} },
    addressCounters: { flush: async () => {} },
  }
}

/** Every operation of the API, for HTTP and the command line. */
export function createOperations(context: OperationContext, services: Services): Operation[] {
  const { config } = context
  const mayConnect = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const all = {
    ...context,
    ...services,
    settings: context.settings ?? (() => []),
    alertChannels: alertChannels(config, { ...context, userMail: services.userMail }),
    whileDownloading: createDownloading(),
    checkUrl: (url: string) => checkWebhookUrl(url, mayConnect),
  }
  return OPERATIONS.flatMap((operationsOf) => operationsOf(all)).map((each) => withDomainNames(each, all.store.domains))
}

interface AllParts extends OperationContext, Services {
  settings: () => readonly Setting[]
  alertChannels: ReturnType<typeof alertChannels>
  /** Limits requests that wait for downloads. */
  whileDownloading: WhileDownloading
  /** Why a URL of an endpoint is rejected; null if it is not. */
  checkUrl: (url: string) => string | null
}

/** In the order of the API reference. Each takes the parts that it uses. */
const OPERATIONS: readonly ((all: AllParts) => Operation[])[] = [
  sendOperations,
  readOperations,
  messagePartOperations,
  actOperations,
  analyzeOperations,
  meOperations,
  apiKeyOperations,
  domainOperations,
  policyReportOperations,
  auditLogOperations,
  healthOperations,
  alertOperations,
  canaryOperations,
  billingOperations,
  eventOperations,
  (all) => explainOperations({ ...all, ...explained(all) }),
  statsOperations,
  qualityOperations,
  suppressionOperations,
  recipientOperations,
  suppressionListOperations,
  templateOperations,
  webhookOperations,
  inboundRouteOperations,
  inboundMessageOperations,
  blockedLinkOperations,
  organizationOperations,
  sessionOperations,
  invitationOperations,
  userOperations,
  configurationOperations,
  queueOperations,
  nodeOperations,
  ({ config, store, resolver, delivery }) =>
    sendingAddressOperations({
      store,
      addresses: sendingAddressesOf(config),
      resolver,
      looksOutside: config.health.lookOutside,
      counters: delivery.addressCounters,
    }),
  relayOperations,
]

/** Functions with which `explain` finds the route of a mail, the limits at its destination, and whether the domain may
 *  send. */
function explained({ config, store, random, resolver, delivery }: AllParts) {
  const { relays } = relaySettingsOf(config)
  const { queue, policies } = delivery
  return {
    routeTo: (domain: string, mailQueue: string) =>
      findRoute(
        { domain, queue: mailQueue },
        { resolver, random, deliveryPort: config.delivery.port, relays, queue, policies },
      ),
    destinationState: (destination: string, mailQueue: string) => queue.stateOf(destination, mailQueue),
    rules: sendingRules(config, store),
    settings: {
      maxAgeSeconds: config.delivery.maxAgeSeconds,
      sending: config.sending,
      hasSeveralWays: config.sending.addresses.length > 0 || config.relayRules.length > 0,
    },
  }
}
