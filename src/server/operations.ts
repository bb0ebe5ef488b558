import type { Operation } from '../api/operation.ts'
import { apiKeyOperations } from '../api/routes/api-keys.ts'
import { auditLogOperations } from '../api/routes/audit-log.ts'
import { billingOperations } from '../api/routes/billing.ts'
import { blockedLinkOperations } from '../api/routes/blocked-links.ts'
import { configurationOperations } from '../api/routes/configuration.ts'
import { domainOperations } from '../api/routes/domains.ts'
import { eventOperations } from '../api/routes/events.ts'
import { explainOperations } from '../api/routes/explain.ts'
import { healthOperations } from '../api/routes/health-checks.ts'
import { inboundOperations } from '../api/routes/inbound.ts'
import { messageOperations } from '../api/routes/messages.ts'
import { analyzeOperations } from '../api/routes/messages-analyze.ts'
import { organizationOperations } from '../api/routes/organizations.ts'
import { qualityOperations } from '../api/routes/quality.ts'
import { queueOperations } from '../api/routes/queues.ts'
import { sessionOperations } from '../api/routes/sessions.ts'
import { statsOperations } from '../api/routes/stats.ts'
import { suppressionListOperations } from '../api/routes/suppression-lists.ts'
import { suppressionOperations } from '../api/routes/suppressions.ts'
import { templateOperations } from '../api/routes/templates.ts'
import { webhookOperations } from '../api/routes/webhooks.ts'
import type { Streams } from '../api/streams.ts'
import { type Config, planNamed, type Setting } from '../config/load.ts'
import { type OwnMtaSts, ownMtaSts } from '../domains/mta-sts.ts'
import { serverNames } from '../domains/server-names.ts'
import type { Feed } from '../event-stream/event-stream.ts'
import type { HealthWatch } from '../health/watch.ts'
import type { ForwardLinks } from '../mail/forward-link.ts'
import type { MtaSts } from '../mail/mta-sts.ts'
import type { RecipientPartsOf } from '../mail/recipient-parts.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { checkWebhookUrl } from '../net/https/requests.ts'
import { createAddressGuard } from '../net/ip.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Random } from '../os/random.ts'
import { simulate } from '../outbound/sandbox.ts'
import type { SiteState } from '../outbound/schedule/destination-state.ts'
import { findWay } from '../outbound/schedule/route.ts'
import type { Parsing } from '../parsing/parsing.ts'
import type { Store } from '../storage/store.ts'
import { createSubmission, type Submission } from '../submission/accept.ts'
import { createForwarding, type Forwarding } from '../submission/forwarding.ts'
import type { HeavyWork } from '../submission/heavy-work.ts'
import { createSendingEligibility } from '../submission/sending-eligibility.ts'
import type { Compose } from '../submission/signing.ts'

/** What the operations need of the house around them. */
export interface Around {
  config: Config
  /** What the config is made of. */
  settings?: () => readonly Setting[]
  /** Links in mail begin with it. */
  publicUrl: () => string
  /** Of confirmation mails; made from a secret of the store, like `ownParts`. */
  forwardLinks: () => ForwardLinks | Promise<ForwardLinks>
  store: Store
  clock: WallClock
  random: Random
  mintId: MintId
  /** Without a cache: whoever asks to look at DNS again has just changed something. */
  freshResolver: Resolver
  compose: Compose
  /** Paces large mail and large requests together; each has a pace of its own without it. */
  heavyWork?: HeavyWork
  /** Reads what tenants write, away from the main thread. */
  parsing: Parsing
  /** Made from secrets of the store, which the command line asks for only when they are needed. */
  ownParts: () => RecipientPartsOf | Promise<RecipientPartsOf>
  /** Events as they are told, and who follows them by HTTP. */
  feed: Feed
  streams: Streams
  /** What the checks of the running house found. */
  health: HealthWatch
  /** Resolves when something happened to the message, or after the time. */
  watch: (messageId: string, timeoutMs: number) => Promise<void>
  wakeOutbound: () => void
  wakeWebhooks: () => void
  wakeInbound: () => void
  /** The MTA-STS policy of a mail domain, as far as it is known where no engine runs. */
  mtaStsOf: (domain: string) => MtaSts | null | Promise<MtaSts | null>
  /** How we stand with a receiving site; null where no engine runs. */
  stateOfSite: (site: string) => SiteState | null
}

/** Config and engines → the way into the queue, for HTTP, SMTP and the command line alike. */
export function openSubmission(around: SubmissionAround): Submission {
  return createSubmission({ ...around, ...around.parsing, ...sendingRules(around), simulate })
}

/** Config and the way into the queue → who may be forwarded to. */
export function openForwarding(
  around: Pick<Around, 'config' | 'store' | 'publicUrl' | 'forwardLinks'>,
  submission: Submission,
): Forwarding {
  const { config, store } = around
  const { stoppedBy } = sendingRules(around)
  return createForwarding({
    store,
    settings: {
      confirmTargets: config.inbound.confirmForwardTargets,
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
    },
    stoppedBy,
    submit: submission.submit,
    links: around.forwardLinks,
    publicUrl: around.publicUrl,
  })
}

/** What is asked of whoever sends. */
function sendingRules({ config, store }: Pick<Around, 'config' | 'store'>) {
  return {
    settings: {
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      messageBytes: config.limits.messageBytes,
    },
    planOf: async (organizationId: string) => {
      const organization = await store.organizations.get(organizationId)
      return planNamed(config)(organization?.plan ?? '')
    },
    stoppedBy: (domainId: string) =>
      config.quality.stopSending ? (store.quality.firingOf(domainId)[0] ?? null) : null,
  }
}

type SubmissionAround = Pick<
  Around,
  'config' | 'store' | 'clock' | 'mintId' | 'compose' | 'parsing' | 'heavyWork' | 'wakeOutbound' | 'wakeWebhooks'
> & { mailLog?: MailLog }

/** Everything that can be asked of Postrider, by HTTP or on the command line. */
export function createOperations(
  around: Around,
  submission: Submission,
  forwarding: Forwarding = openForwarding(around, submission),
): Operation[] {
  const { config, parsing } = around
  const plans = (name: string) => config.plans[name]
  const mayConnect = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const checkUrl = (url: string) => checkWebhookUrl(url, mayConnect)
  return [
    ...messageOperations({ ...around, ...parsing, submission }),
    ...analyzeOperations({ ...around, ...parsing, render: submission.render }),
    ...apiKeyOperations(around),
    ...domainOperations({
      ...around,
      plans,
      resolver: around.freshResolver,
      hostname: config.hostname,
      serverNames: serverNamesOf(config),
      requireVerified: config.sending.requireVerifiedDomain,
      mtaSts: mtaStsOfHouse(config),
    }),
    ...auditLogOperations(around),
    ...healthOperations(around),
    ...billingOperations({ ...around, plans, selfService: config.billing.selfServicePlans }),
    ...eventOperations(around),
    ...explainOperations({
      ...around,
      wayTo: (domain) =>
        findWay(domain, {
          resolver: around.freshResolver,
          random: around.random,
          settings: { smarthost: config.delivery.smarthost, deliveryPort: config.delivery.port },
          mtaStsOf: around.mtaStsOf,
        }),
      standing: createSendingEligibility({ store: around.store, ...sendingRules(around) }),
      settings: { maxAgeSeconds: config.delivery.maxAgeSeconds },
    }),
    ...statsOperations(around),
    ...qualityOperations({ ...around, quality: config.quality }),
    ...suppressionOperations(around),
    ...suppressionListOperations({ ...around, ...parsing }),
    ...templateOperations({ ...around, ...parsing }),
    ...webhookOperations({ ...around, checkUrl }),
    ...inboundOperations({ ...around, checkUrl, forwarding, requireVerified: config.sending.requireVerifiedDomain }),
    ...blockedLinkOperations(around),
    ...organizationOperations({ ...around, plans: Object.keys(config.plans) }),
    ...sessionOperations(around),
    ...configurationOperations({ settings: around.settings ?? (() => []), plans: config.plans }),
    ...queueOperations(around),
  ]
}

/** The names of this server, which no tenant can have. */
export function serverNamesOf({ hostname, http, tls }: Config): string[] {
  return serverNames({ hostname, publicUrl: http.publicUrl, names: tls.names })
}

/** The MTA-STS policy that this house publishes for domains it receives mail for; null where it does not. */
export function mtaStsOfHouse({ hostname, http, smtp }: Config): OwnMtaSts | null {
  if (smtp.inbound.listen === null) return null
  return ownMtaSts({ hostname, publicUrl: http.publicUrl, mode: smtp.inbound.mtaSts })
}
