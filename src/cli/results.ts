import type { alertRecord, channelRecord, testRecord } from '../api/routes/alerts.ts'
import type { blockedLinkRecord } from '../api/routes/blocked-links.ts'
import type { canaryRecord } from '../api/routes/canary.ts'
import type { organizationRecord } from '../api/routes/organizations.ts'
import type { relayRecord } from '../api/routes/relays.ts'
import type { sendingAddressRecord } from '../api/routes/sending-addresses.ts'
import type { Page } from '../client/pages.ts'
import type {
  AcceptedMessage,
  AddressExplanation,
  ApiKey,
  CreatedApiKey,
  CreatedInboundRoute,
  CreatedWebhook,
  Deletion,
  DmarcSources,
  Domain,
  Erasure,
  Event,
  InboundRoute,
  InboundRouteTest,
  ListedTemplate,
  ListedTemplateVersion,
  Message,
  MessageExplanation,
  MessagesAttemptsAnswer,
  RenderedTemplate,
  Stats,
  Suppression,
  Template,
  User,
  Webhook,
  WebhookDelivery,
  WebhooksReplayAnswer,
  WebhookWithNewSecret,
} from '../client/types.ts'
import type { MailObstacle } from '../submission/user-mail.ts'

/** Response body of each API operation that a command runs. The types are generated from the OpenAPI document. */
export interface Results extends ListResults {
  alerts_list: { data: ReturnType<typeof alertRecord>[]; channels: ReturnType<typeof channelRecord>[] }
  alerts_test: { data: ReturnType<typeof testRecord>[] }
  canary_list: {
    every_minutes: number
    data: { mailbox: string; canaries: ReturnType<typeof canaryRecord>[] }[]
  }
  canary_run: { data: ReturnType<typeof canaryRecord>[] }
  api_keys_create: CreatedApiKey
  api_keys_revoke: Deletion
  blocked_links_create: BlockedLinkRecord
  blocked_links_delete: Deletion
  domains_create: Domain
  domains_dmarc: DmarcSources
  domains_get: Domain
  domains_rotate_dkim: Domain
  domains_verify: Domain
  explain_address: AddressExplanation
  events_get: Event
  inbound_routes_create: CreatedInboundRoute
  inbound_routes_delete: Deletion
  inbound_routes_get: InboundRoute
  inbound_routes_test: InboundRouteTest
  inbound_routes_update: InboundRoute
  messages_attempts: MessagesAttemptsAnswer
  messages_cancel: Message
  messages_delete_content: Deletion
  messages_explain: MessageExplanation
  messages_get: Message
  messages_resend: AcceptedMessage
  messages_send: AcceptedMessage
  organizations_create: OrganizationRecord
  organizations_update: OrganizationRecord
  recipients_erase: Erasure
  recipients_erasure_get: Erasure
  relays_list: { data: ReturnType<typeof relayRecord>[] }
  sending_addresses_list: { data: ReturnType<typeof sendingAddressRecord>[] }
  stats_read: Stats
  suppressions_create: Suppression
  suppressions_delete: Deletion
  templates_create: Template
  templates_delete: Deletion
  templates_get: Template
  templates_render: RenderedTemplate
  templates_update: Template
  users_create: User
  users_delete: Deletion
  users_reset: PasswordLink
  users_update: User
  webhook_deliveries_retry: WebhookDelivery
  webhooks_create: CreatedWebhook
  webhooks_delete: Deletion
  webhooks_get: Webhook
  webhooks_replay: WebhooksReplayAnswer
  webhooks_rotate_secret: WebhookWithNewSecret
  webhooks_test: Event
  webhooks_update: Webhook
}

/** Record type of each list that a command reads. */
export interface Lists {
  api_keys_list: ApiKey
  blocked_links_list: BlockedLinkRecord
  domains_list: Domain
  events_list: Event
  inbound_routes_list: InboundRoute
  messages_list: Message
  organizations_list: OrganizationRecord
  recipients_erasures_list: Erasure
  suppressions_list: Suppression
  templates_list: ListedTemplate
  templates_versions: ListedTemplateVersion
  users_list: User
  webhook_deliveries_list: WebhookDelivery
  webhooks_list: Webhook
}

type ListResults = { [Id in keyof Lists]: Page<Lists[Id]> }

export type OperationName = keyof Results
export type ListName = keyof Lists

/** A link that sets a password. The client has no types of operations that are only for the operator. */
export interface PasswordLink {
  id: string
  url: string
  expires_at: string
  mail_queued: boolean
  /** Null: a mail is queued. */
  mail_reason: MailObstacle | null
}

export type BlockedLinkRecord = ReturnType<typeof blockedLinkRecord>
export type OrganizationRecord = ReturnType<typeof organizationRecord>
