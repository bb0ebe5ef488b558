import { createDownloading } from '../api/downloading.ts'
import type { Operation } from '../api/operation.ts'
import { alertOperations } from '../api/routes/alerts.ts'
import { apiKeyOperations } from '../api/routes/api-keys.ts'
import { auditLogOperations } from '../api/routes/audit-log.ts'
import { billingOperations } from '../api/routes/billing.ts'
import { blockedLinkOperations } from '../api/routes/blocked-links.ts'
import { canaryOperations } from '../api/routes/canary.ts'
import { configurationOperations } from '../api/routes/configuration.ts'
import { domainOperations } from '../api/routes/domains.ts'
import { eventOperations } from '../api/routes/events.ts'
import { explainOperations } from '../api/routes/explain.ts'
import { healthOperations } from '../api/routes/health-checks.ts'
import { inboundOperations } from '../api/routes/inbound.ts'
import { invitationOperations } from '../api/routes/invitations.ts'
import { messageOperations } from '../api/routes/messages.ts'
import { analyzeOperations } from '../api/routes/messages-analyze.ts'
import { nodeOperations } from '../api/routes/nodes.ts'
import { organizationOperations } from '../api/routes/organizations.ts'
import { policyReportOperations } from '../api/routes/policy-reports.ts'
import { qualityOperations } from '../api/routes/quality.ts'
import { queueOperations } from '../api/routes/queues.ts'
import { recipientOperations } from '../api/routes/recipients.ts'
import { relayOperations } from '../api/routes/relays.ts'
import { type SendingAddressDeps, sendingAddressOperations } from '../api/routes/sending-addresses.ts'
import { sessionOperations } from '../api/routes/sessions.ts'
import { statsOperations } from '../api/routes/stats.ts'
import { suppressionListOperations } from '../api/routes/suppression-lists.ts'
import { suppressionOperations } from '../api/routes/suppressions.ts'
import { templateOperations } from '../api/routes/templates.ts'
import { userOperations } from '../api/routes/users.ts'
import { webhookOperations } from '../api/routes/webhooks.ts'
import type { Streams } from '../api/streams.ts'
import { type Config, configuredSources, planNamed, type Setting, sendingAddressesOf } from '../config/load.ts'
import { publishedMtaSts } from '../domains/mta-sts.ts'
import { serverNames } from '../domains/server-names.ts'
import { createSourceNames } from '../domains/source-names.ts'
import type { EventStream } from '../event-stream/event-stream.ts'
import type { HealthWatch } from '../health/watch.ts'
import type { ForwardLinks } from '../mail/forward-link.ts'
import type { MtaSts } from '../mail/mta-sts.ts'
import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { Canary } from '../model/canary.ts'
import { planFor } from '../model/organization.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { Post } from '../net/https/requests.ts'
import { checkWebhookUrl } from '../net/https/requests.ts'
import { createAddressGuard } from '../net/ip.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Notifier, Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import type { DeliveryQueue } from '../outbound/queue.ts'
import { createRelayChoice, type RelaySettings } from '../outbound/relays/relay-choice.ts'
import { simulate } from '../outbound/sandbox.ts'
import type { DestinationState } from '../outbound/schedule/destination-state.ts'
import { findRoute } from '../outbound/schedule/route.ts'
import type { Parsing } from '../parsing/parsing.ts'
import type { Store } from '../storage/store.ts'
import { createSubmission, type Submission } from '../submission/accept.ts'
import { createForwarding, type Forwarding } from '../submission/forwarding.ts'
import type { HeavyWork } from '../submission/heavy-work.ts'
import { createRemoteAttachments, type RemoteAttachments } from '../submission/remote-attachments.ts'
import { createRemoteFiles, type RemoteFilesDeps } from '../submission/remote-files.ts'
import { createSendingEligibility } from '../submission/sending-eligibility.ts'
import type { Compose } from '../submission/signing.ts'
import { createUserMail, type UserMail } from '../submission/user-mail.ts'
import { alertChannels } from './alerts.ts'
import { canarySender } from './canary.ts'
import { relayedDomainsOf, relaySettingsOf } from './relays.ts'
import { surveyOf } from './survey.ts'

/** What the operations use. The server, the command line and tests each provide their own. */
export interface OperationsDeps {
  config: Config
  /** The configuration keys with their sources; empty if absent. */
  settings?: () => readonly Setting[]
  /** Links in mail start with it. */
  publicUrl: () => string
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  /** Has no cache: callers have just changed DNS records. */
  freshResolver: Resolver
  compose: Compose
  /** Downloads attachments that are given as URLs. */
  remoteAttachments: RemoteAttachments
  /** Paces large messages and large requests together; created here if absent. */
  heavyWork?: HeavyWork
  mailLog?: MailLog
  /** Parses what tenants wrote, outside the main thread. */
  parsing: Parsing
  /** Derived from secrets of the store, which the command line reads only when needed. */
  recipientParts: () => RecipientPartsOf | Promise<RecipientPartsOf>
  forwardLinks: () => ForwardLinks | Promise<ForwardLinks>
  eventStream: EventStream
  /** Open HTTP streams of events. */
  streams: Streams
  health: HealthWatch
  /** Sends canary mails now; null or absent if they are off. */
  runCanaries?: ((now: number) => Promise<Canary[]>) | null
  /** Posts to the operator's channels of alerts. */
  postAlert: Post
  wait: Notifier['wait']
  notify: Notify
  /** MTA-STS policy of a mail domain; the cached one if no delivery engine runs. */
  mtaStsOf: (domain: string) => MtaSts | null | Promise<MtaSts | null>
  /** Reputation and limits at a destination; null if no delivery engine runs. */
  destinationState: (destination: string, queue: string) => DestinationState | null
  /** How the mail of a queue is sent now; absent: the rules about relays alone decide. */
  chosenRoute?: DeliveryQueue['chosen']
  /** Attempts through relays that are not stored yet are stored by this; absent if this process delivers no mail. */
  flushRelays?: () => Promise<void>
  /** Use of each sending address; absent if this process delivers no mail. */
  addressStates?: SendingAddressDeps['states']
}

export type SubmissionDeps = Pick<
  OperationsDeps,
  | 'config'
  | 'store'
  | 'clock'
  | 'mintId'
  | 'compose'
  | 'parsing'
  | 'remoteAttachments'
  | 'heavyWork'
  | 'mailLog'
  | 'notify'
>

/** Creates the Submission that HTTP, SMTP and the command line share. */
export function openSubmission(deps: SubmissionDeps): Submission {
  const { config, store, parsing } = deps
  return createSubmission({
    store,
    clock: deps.clock,
    mintId: deps.mintId,
    settings: {
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      messageBytes: config.limits.messageBytes,
      sending: { ...config.sending, relayedDomains: relayedDomainsOf(config) },
    },
    planOf: planOf(config, store),
    stoppedBy: alertThatStops(config, store),
    compose: deps.compose,
    templateEngine: parsing.templateEngine,
    storedMail: parsing.storedMail,
    simulate,
    notify: deps.notify,
    remoteAttachments: deps.remoteAttachments,
    heavyWork: deps.heavyWork,
    mailLog: deps.mailLog,
  })
}

/** Creates the RemoteAttachments that sends and analyses share. */
export function openRemoteAttachments(
  { limits }: Pick<Config, 'limits'>,
  deps: Omit<RemoteFilesDeps, 'maxBytes'>,
): RemoteAttachments {
  return createRemoteAttachments(createRemoteFiles({ ...deps, maxBytes: limits.messageBytes }))
}

/** Creates the Forwarding of inbound mail, which sends confirmation messages through `submission`. */
export function openForwarding(
  deps: Pick<OperationsDeps, 'config' | 'store' | 'publicUrl' | 'forwardLinks'>,
  submission: Submission,
): Forwarding {
  const { config, store } = deps
  return createForwarding({
    store,
    settings: {
      confirmTargets: config.inbound.confirmForwardTargets,
      hostname: config.hostname,
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      sending: config.sending,
    },
    stoppedBy: alertThatStops(config, store),
    submit: submission.submit,
    links: deps.forwardLinks,
    publicUrl: deps.publicUrl,
  })
}

/** Creates the UserMail of invitations and password links, which goes through `submission`. */
export function openUserMail(
  { config, store, random, publicUrl }: Pick<OperationsDeps, 'config' | 'store' | 'random' | 'publicUrl'>,
  submission: Pick<Submission, 'submit'>,
): UserMail {
  return createUserMail({
    store,
    submit: submission.submit,
    stoppedBy: alertThatStops(config, store),
    random,
    settings: {
      from: config.users.mailFrom,
      hostname: config.hostname,
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      singleSignOnOnly: config.oidc.only,
    },
    publicUrl,
  })
}

/** The same for canary mails, from their own address. */
export function openCanaryMail(
  deps: Pick<OperationsDeps, 'config' | 'store' | 'random' | 'publicUrl'>,
  submission: Pick<Submission, 'submit'>,
): UserMail {
  const users = { ...deps.config.users, mailFrom: canarySender(deps.config) }
  return openUserMail({ ...deps, config: { ...deps.config, users } }, submission)
}

/** Every operation of the API, for HTTP and the command line. */
export function createOperations(
  deps: OperationsDeps,
  submission: Submission,
  forwarding: Forwarding = openForwarding(deps, submission),
  userMail: UserMail = openUserMail(deps, submission),
): Operation[] {
  const { config, store, mintId, random } = deps
  return [
    ...messageOperationsOf(deps, submission),
    ...apiKeyOperations({ store, random, mintId }),
    ...domainOperationsOf(deps),
    ...policyReportOperations({
      store,
      sourceNames: createSourceNames({ resolver: deps.freshResolver, clock: deps.clock }),
      hostname: config.hostname,
      sendingAddresses: configuredSources(config),
    }),
    ...auditLogOperations({ store }),
    ...healthOperations({ health: deps.health }),
    ...alertOperations({ alerts: store.alerts, channels: alertChannelsOf(deps, userMail), mintId }),
    ...canaryOperations({ store, settings: config.canary, run: deps.runCanaries ?? null }),
    ...billingOperations({ store, plans: planCalled(config), selfService: config.billing.selfServicePlans }),
    ...eventOperations({ store, feed: deps.eventStream, streams: deps.streams }),
    ...explainOperationsOf(deps),
    ...statsOperations({ store }),
    ...qualityOperations({ store, quality: config.quality }),
    ...suppressionOperations({ store, mintId, sending: config.sending }),
    ...recipientOperations({ store, mintId }),
    ...suppressionListOperations({ store, random, readList: deps.parsing.readList, sending: config.sending }),
    ...templateOperations({ store, mintId, templateEngine: deps.parsing.templateEngine }),
    ...endpointOperations(deps, forwarding),
    ...blockedLinkOperations({ store, mintId }),
    ...organizationOperations({ store, mintId, plans: Object.keys(config.plans) }),
    ...sessionOperations({ store }),
    ...invitationOperations({ store, mintId, userMail, publicUrl: deps.publicUrl }),
    ...userOperations({ store, mintId, userMail, publicUrl: deps.publicUrl }),
    ...configurationOperations({ settings: deps.settings ?? (() => []), plans: config.plans }),
    ...queueOperations({ store }),
    ...nodeOperations({ store, now: deps.clock.now }),
    ...sendingAddressOperations({
      store,
      addresses: sendingAddressesOf(config),
      resolver: deps.freshResolver,
      looksOutside: config.health.lookOutside,
      states: deps.addressStates ?? (() => []),
    }),
    ...relayOperations({ store, relays: config.relays, flushRelays: deps.flushRelays ?? (async () => {}) }),
  ]
}

/** The channels of alerts, for operations and for the sender. */
export function alertChannelsOf(
  deps: Pick<OperationsDeps, 'config' | 'postAlert' | 'freshResolver' | 'clock' | 'publicUrl'>,
  userMail: UserMail,
) {
  const { config, postAlert: post, freshResolver: resolver, clock, publicUrl } = deps
  return alertChannels(config, { post, userMail, resolver, now: clock.now, publicUrl })
}

function messageOperationsOf(deps: OperationsDeps, submission: Submission): Operation[] {
  const { config, store, clock, parsing } = deps
  const whileDownloading = createDownloading()
  return [
    ...messageOperations({
      store,
      clock,
      submission,
      whileDownloading,
      wait: deps.wait,
      compose: deps.compose,
      storedMail: parsing.storedMail,
      recipientParts: deps.recipientParts,
      notify: deps.notify,
    }),
    ...analyzeOperations({
      store,
      clock,
      render: submission.render,
      analyze: parsing.analyze,
      sending: config.sending,
      remoteAttachments: deps.remoteAttachments,
      whileDownloading,
    }),
  ]
}

function domainOperationsOf({
  config,
  store,
  random,
  mintId,
  freshResolver,
  notify,
  clock,
}: OperationsDeps): Operation[] {
  return domainOperations({
    store,
    random,
    mintId,
    plans: planCalled(config),
    resolver: freshResolver,
    hostname: config.hostname,
    sendingAddresses: config.sending.addresses.map(({ address }) => address),
    serverNames: serverNamesOf(config),
    requireVerified: config.sending.requireVerifiedDomain,
    mtaSts: publishedMtaSts(config),
    zone: config.dns.zone,
    survey: surveyOf(config, { resolver: freshResolver, clock: clock.steady, random }),
    rotateEveryMs: config.dkim.rotateEveryDays * 86_400_000,
    maxAgeMs: 1000 * config.delivery.maxAgeSeconds,
    onChange: () => notify('domains'),
  })
}

function explainOperationsOf(deps: OperationsDeps): Operation[] {
  const { config, store, random, freshResolver } = deps
  const relays = relaySettingsOf(config)
  return explainOperations({
    store,
    routeTo: (domain, queue) =>
      findRoute(
        { domain, queue },
        {
          resolver: freshResolver,
          random,
          deliveryPort: config.delivery.port,
          relays: relays.relays,
          chosen: deps.chosenRoute ?? byRulesAlone(relays),
          mtaStsOf: deps.mtaStsOf,
        },
      ),
    destinationState: deps.destinationState,
    sendingEligibility: createSendingEligibility({
      store,
      settings: { requireVerifiedDomain: config.sending.requireVerifiedDomain },
      planOf: planOf(config, store),
      stoppedBy: alertThatStops(config, store),
    }),
    settings: {
      maxAgeSeconds: config.delivery.maxAgeSeconds,
      sending: config.sending,
      hasSeveralWays: config.sending.addresses.length > 0 || config.relayRules.length > 0,
    },
  })
}

/** Operations that store URLs of endpoints. */
function endpointOperations(deps: OperationsDeps, forwarding: Forwarding): Operation[] {
  const { config, store, random, mintId, notify } = deps
  const mayConnect = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const checkUrl = (url: string) => checkWebhookUrl(url, mayConnect)
  const requireVerified = config.sending.requireVerifiedDomain
  return [
    ...webhookOperations({ store, random, mintId, checkUrl, notify }),
    ...inboundOperations({ store, random, mintId, checkUrl, notify, requireVerified, forwarding }),
  ]
}

const planCalled = (config: Config) => (name: string) => config.plans[name]

const planOf = (config: Config, store: Pick<Store, 'organizations'>) => async (organizationId: string) => {
  const organization = await store.organizations.get(organizationId)
  return planFor(organizationId, organization, planNamed(config))
}

/** The quality alert that stops a domain from sending, if the config lets alerts stop it. */
const alertThatStops = (config: Config, store: Pick<Store, 'snapshot'>) => (domainId: string) =>
  config.quality.stopSending ? (store.snapshot.firingAlerts(domainId)[0] ?? null) : null

/** Names of this server, which no tenant may claim. */
export function serverNamesOf({ hostname, http, tls, dns }: Config): string[] {
  return serverNames({
    hostname,
    publicUrl: http.publicUrl,
    names: [...tls.names, ...(dns.zone === null ? [] : [dns.zone])],
  })
}

/** Without a delivery engine, nothing is known of failures. */
function byRulesAlone(settings: RelaySettings): DeliveryQueue['chosen'] {
  const choice = createRelayChoice(settings)
  return (queue, destination) =>
    destination === null
      ? choice.withoutDestination(queue)
      : choice.of(queue, destination, { isBlocked: false, isUsedUp: false, takesTry: false })
}
