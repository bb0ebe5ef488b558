import type { Operation } from './api/operation.ts'
import { apiKeyOperations } from './api/routes/api-keys.ts'
import { domainOperations } from './api/routes/domains.ts'
import { eventOperations } from './api/routes/events.ts'
import { messageOperations } from './api/routes/messages.ts'
import { suppressionOperations } from './api/routes/suppressions.ts'
import { webhookOperations } from './api/routes/webhooks.ts'
import type { Config } from './config.ts'
import { simulate } from './outbound/sandbox.ts'
import type { Clock } from './platform/clock.ts'
import { checkWebhookUrl } from './platform/fetch-public.ts'
import type { MintId } from './platform/ids.ts'
import { createAddressGuard } from './platform/ip.ts'
import type { MailLog } from './platform/maillog.ts'
import type { Random } from './platform/random.ts'
import type { Resolver } from './platform/resolver.ts'
import type { Store } from './storage/store.ts'
import { createSubmission } from './submission/accept.ts'
import type { Compose } from './submission/signing.ts'

/** Everything that can be asked of Postrider, by HTTP or on the command line: config and engines → the operations. */
export function createOperations(house: {
  config: Config
  store: Store
  clock: Clock
  random: Random
  mintId: MintId
  /** Without a cache: whoever asks to look at DNS again has just changed something. */
  freshResolver: Resolver
  compose: Compose
  /** Resolves when something happened to the message, or after the time. */
  watch: (messageId: string, timeoutMs: number) => Promise<void>
  wakeOutbound: () => void
  wakeWebhooks: () => void
  mailLog?: MailLog
}): Operation[] {
  const { config, store } = house
  const plans = (name: string) => config.plans[name]
  const mayConnect = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const submission = createSubmission({
    ...house,
    settings: {
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      messageBytes: config.limits.messageBytes,
    },
    planOf: async (organizationId) => {
      const organization = await store.organizations.get(organizationId)
      return plans(organization?.plan ?? '') ?? plans('free')!
    },
    simulate,
  })
  return [
    ...messageOperations({ ...house, submission }),
    ...apiKeyOperations(house),
    ...domainOperations({ ...house, plans, resolver: house.freshResolver, hostname: config.hostname }),
    ...eventOperations(house),
    ...suppressionOperations(house),
    ...webhookOperations({ ...house, checkUrl: (url) => checkWebhookUrl(url, mayConnect) }),
  ]
}
