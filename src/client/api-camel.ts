// Generated from the OpenAPI document by scripts/client-types.ts.

import type { Call, CallOptions, KeyedOptions, SendOptions } from './call.ts'
import type { Camel } from './camel.ts'
import type { EventStream } from './event-stream.ts'
import type { Pages } from './pages.ts'
import type {
  AcceptedMessage,
  AddressExplanation,
  Analysis,
  ApiKey,
  ApiKeysCreateBody,
  ApiKeysListQuery,
  ApiKeysRotateBody,
  ApiKeysUpdateBody,
  AuditEntry,
  AuditLogListQuery,
  Billing,
  BillingUpdateBody,
  CreatedApiKey,
  CreatedInboundRoute,
  CreatedInvitation,
  CreatedWebhook,
  Deletion,
  DmarcSources,
  DnsHost,
  Domain,
  DomainsCreateBody,
  DomainsDmarcQuery,
  DomainsListQuery,
  DomainsTlsReportsQuery,
  DomainsUpdateBody,
  Erasure,
  Event,
  EventsListQuery,
  EventsStreamQuery,
  ExplainAddressQuery,
  ForwardConfirmations,
  InboundDelivery,
  InboundMessage,
  InboundMessagesDeliveriesAnswer,
  InboundMessagesListQuery,
  InboundRoute,
  InboundRoutesConfirmationsBody,
  InboundRoutesCreateBody,
  InboundRoutesListQuery,
  InboundRoutesTestBody,
  InboundRoutesUpdateBody,
  InboundRouteTest,
  Invitation,
  InvitationsCreateBody,
  InvitationsListQuery,
  ListedTemplate,
  ListedTemplateVersion,
  Message,
  MessageContent,
  MessageExplanation,
  MessagesAnalyzeBody,
  MessagesAttemptsAnswer,
  MessagesBatchAnswer,
  MessagesBatchBody,
  MessagesEventsQuery,
  MessagesListQuery,
  MessagesUpdateBody,
  MessagesWebhookDeliveriesAnswer,
  Quality,
  QualityListQuery,
  RecipientsEraseBody,
  RecipientsErasuresListQuery,
  RenderedTemplate,
  RotatedApiKey,
  SendMessage,
  Session,
  Stats,
  StatsReadQuery,
  Suppression,
  SuppressionImport,
  SuppressionsCreateBody,
  SuppressionsExportQuery,
  SuppressionsImportBody,
  SuppressionsListQuery,
  Template,
  TemplatePreview,
  TemplatesCreateBody,
  TemplatesGetQuery,
  TemplatesListQuery,
  TemplatesPreviewBody,
  TemplatesRenderBody,
  TemplatesUpdateBody,
  TemplatesVersionsQuery,
  TlsResults,
  Usage,
  User,
  UsersDeleteQuery,
  UsersListQuery,
  UsersSessionsListQuery,
  UsersUpdateBody,
  Webhook,
  WebhookDeliveriesListQuery,
  WebhookDelivery,
  WebhookDeliveryWithRequest,
  WebhooksCreateBody,
  WebhooksListQuery,
  WebhooksReplayAnswer,
  WebhooksReplayBody,
  WebhooksRotateSecretBody,
  WebhooksTestBody,
  WebhooksUpdateBody,
  WebhookWithNewSecret,
  WholeInboundMessage,
} from './types.ts'

/** Api for a client with the option `camelCase`. The comments are those of Api. */
export interface ApiCamel {
  messages: {
    send(body: Camel<SendMessage>, options?: SendOptions): Call<Camel<AcceptedMessage>>
    batch(body: Camel<MessagesBatchBody>, options?: KeyedOptions): Call<Camel<MessagesBatchAnswer>>
    list(query?: Camel<MessagesListQuery>, options?: CallOptions): Pages<Camel<Message>>
    get(messageId: string, options?: CallOptions): Call<Camel<Message>>
    update(messageId: string, body: Camel<MessagesUpdateBody>, options?: CallOptions): Call<Camel<Message>>
    content(messageId: string, query?: { part?: undefined }, options?: CallOptions): Call<Camel<MessageContent>>
    content(messageId: string, query: { part: 'html' | 'text' }, options?: CallOptions): Call<string>
    content(messageId: string, query: { part: 'raw' }, options?: CallOptions): Call<Uint8Array>
    deleteContent(messageId: string, options?: CallOptions): Call<Camel<Deletion>>
    events(messageId: string, query?: Camel<MessagesEventsQuery>, options?: CallOptions): Pages<Camel<Event>>
    attempts(messageId: string, options?: CallOptions): Call<Camel<MessagesAttemptsAnswer>>
    webhookDeliveries(messageId: string, options?: CallOptions): Call<Camel<MessagesWebhookDeliveriesAnswer>>
    attachment(messageId: string, number: number, options?: CallOptions): Call<Uint8Array>
    cancel(messageId: string, options?: CallOptions): Call<Camel<Message>>
    resend(messageId: string, options?: KeyedOptions): Call<Camel<AcceptedMessage>>
    analyze(body: Camel<MessagesAnalyzeBody>, options?: CallOptions): Call<Camel<Analysis>>
    explain(messageId: string, options?: CallOptions): Call<Camel<MessageExplanation>>
  }
  apiKeys: {
    create(body: Camel<ApiKeysCreateBody>, options?: KeyedOptions): Call<Camel<CreatedApiKey>>
    list(query?: Camel<ApiKeysListQuery>, options?: CallOptions): Pages<Camel<ApiKey>>
    get(keyId: string, options?: CallOptions): Call<Camel<ApiKey>>
    update(keyId: string, body: Camel<ApiKeysUpdateBody>, options?: CallOptions): Call<Camel<ApiKey>>
    revoke(keyId: string, options?: CallOptions): Call<Camel<Deletion>>
    rotate(keyId: string, body?: Camel<ApiKeysRotateBody>, options?: KeyedOptions): Call<Camel<RotatedApiKey>>
  }
  domains: {
    create(body: Camel<DomainsCreateBody>, options?: KeyedOptions): Call<Camel<Domain>>
    list(query?: Camel<DomainsListQuery>, options?: CallOptions): Pages<Camel<Domain>>
    get(domainId: string, options?: CallOptions): Call<Camel<Domain>>
    update(domainId: string, body: Camel<DomainsUpdateBody>, options?: CallOptions): Call<Camel<Domain>>
    delete(domainId: string, options?: CallOptions): Call<Camel<Deletion>>
    dnsHost(domainId: string, options?: CallOptions): Call<Camel<DnsHost>>
    verify(domainId: string, options?: CallOptions): Call<Camel<Domain>>
    rotateDkim(domainId: string, options?: CallOptions): Call<Camel<Domain>>
    dmarc(domainId: string, query?: Camel<DomainsDmarcQuery>, options?: CallOptions): Call<Camel<DmarcSources>>
    tlsReports(domainId: string, query?: Camel<DomainsTlsReportsQuery>, options?: CallOptions): Call<Camel<TlsResults>>
  }
  auditLog: {
    list(query?: Camel<AuditLogListQuery>, options?: CallOptions): Pages<Camel<AuditEntry>>
  }
  usage: {
    get(options?: CallOptions): Call<Camel<Usage>>
  }
  billing: {
    get(options?: CallOptions): Call<Camel<Billing>>
    update(body: Camel<BillingUpdateBody>, options?: CallOptions): Call<Camel<Billing>>
  }
  events: {
    list(query?: Camel<EventsListQuery>, options?: CallOptions): Pages<Camel<Event>>
    stream(query?: Camel<EventsStreamQuery>, options?: CallOptions): EventStream<Camel<Event>>
    get(eventId: string, options?: CallOptions): Call<Camel<Event>>
  }
  explain: {
    address(query: Camel<ExplainAddressQuery>, options?: CallOptions): Call<Camel<AddressExplanation>>
  }
  stats: {
    read(query?: Camel<StatsReadQuery>, options?: CallOptions): Call<Camel<Stats>>
  }
  quality: {
    list(query?: Camel<QualityListQuery>, options?: CallOptions): Pages<Camel<Quality>>
  }
  suppressions: {
    list(query?: Camel<SuppressionsListQuery>, options?: CallOptions): Pages<Camel<Suppression>>
    create(body: Camel<SuppressionsCreateBody>, options?: KeyedOptions): Call<Camel<Suppression>>
    get(idOrEmail: string, options?: CallOptions): Call<Camel<Suppression>>
    delete(idOrEmail: string, options?: CallOptions): Call<Camel<Deletion>>
    export(query?: Camel<SuppressionsExportQuery>, options?: CallOptions): Call<string>
    import(body: Camel<SuppressionsImportBody>, options?: CallOptions): Call<Camel<SuppressionImport>>
  }
  recipients: {
    erase(body: Camel<RecipientsEraseBody>, options?: CallOptions): Call<Camel<Erasure>>
    erasuresList(query?: Camel<RecipientsErasuresListQuery>, options?: CallOptions): Pages<Camel<Erasure>>
    erasureGet(erasureId: string, options?: CallOptions): Call<Camel<Erasure>>
  }
  templates: {
    create(body: Camel<TemplatesCreateBody>, options?: KeyedOptions): Call<Camel<Template>>
    list(query?: Camel<TemplatesListQuery>, options?: CallOptions): Pages<Camel<ListedTemplate>>
    get(templateId: string, query?: Camel<TemplatesGetQuery>, options?: CallOptions): Call<Camel<Template>>
    update(templateId: string, body: Camel<TemplatesUpdateBody>, options?: CallOptions): Call<Camel<Template>>
    delete(templateId: string, options?: CallOptions): Call<Camel<Deletion>>
    render(templateId: string, body?: Camel<TemplatesRenderBody>, options?: CallOptions): Call<Camel<RenderedTemplate>>
    preview(body: Camel<TemplatesPreviewBody>, options?: CallOptions): Call<Camel<TemplatePreview>>
    versions(
      templateId: string,
      query?: Camel<TemplatesVersionsQuery>,
      options?: CallOptions,
    ): Pages<Camel<ListedTemplateVersion>>
  }
  webhooks: {
    create(body: Camel<WebhooksCreateBody>, options?: KeyedOptions): Call<Camel<CreatedWebhook>>
    list(query?: Camel<WebhooksListQuery>, options?: CallOptions): Pages<Camel<Webhook>>
    get(webhookId: string, options?: CallOptions): Call<Camel<Webhook>>
    update(webhookId: string, body: Camel<WebhooksUpdateBody>, options?: CallOptions): Call<Camel<Webhook>>
    delete(webhookId: string, options?: CallOptions): Call<Camel<Deletion>>
    test(webhookId: string, body: Camel<WebhooksTestBody>, options?: CallOptions): Call<Camel<Event>>
    rotateSecret(
      webhookId: string,
      body?: Camel<WebhooksRotateSecretBody>,
      options?: KeyedOptions,
    ): Call<Camel<WebhookWithNewSecret>>
    deliveries: {
      list(
        webhookId: string,
        query?: Camel<WebhookDeliveriesListQuery>,
        options?: CallOptions,
      ): Pages<Camel<WebhookDelivery>>
      get(webhookId: string, deliveryId: string, options?: CallOptions): Call<Camel<WebhookDeliveryWithRequest>>
      retry(webhookId: string, deliveryId: string, options?: CallOptions): Call<Camel<WebhookDelivery>>
    }
    replay(webhookId: string, body: Camel<WebhooksReplayBody>, options?: CallOptions): Call<Camel<WebhooksReplayAnswer>>
  }
  inboundRoutes: {
    create(body: Camel<InboundRoutesCreateBody>, options?: KeyedOptions): Call<Camel<CreatedInboundRoute>>
    list(query?: Camel<InboundRoutesListQuery>, options?: CallOptions): Pages<Camel<InboundRoute>>
    get(routeId: string, options?: CallOptions): Call<Camel<InboundRoute>>
    update(routeId: string, body: Camel<InboundRoutesUpdateBody>, options?: CallOptions): Call<Camel<InboundRoute>>
    delete(routeId: string, options?: CallOptions): Call<Camel<Deletion>>
    confirmations(
      routeId: string,
      body?: Camel<InboundRoutesConfirmationsBody>,
      options?: CallOptions,
    ): Call<Camel<ForwardConfirmations>>
    test(routeId: string, body: Camel<InboundRoutesTestBody>, options?: CallOptions): Call<Camel<InboundRouteTest>>
  }
  inboundMessages: {
    list(query?: Camel<InboundMessagesListQuery>, options?: CallOptions): Pages<Camel<InboundMessage>>
    get(inboundMessageId: string, options?: CallOptions): Call<Camel<WholeInboundMessage>>
    raw(inboundMessageId: string, options?: CallOptions): Call<Uint8Array>
    deliveries(inboundMessageId: string, options?: CallOptions): Call<Camel<InboundMessagesDeliveriesAnswer>>
    redeliver(inboundMessageId: string, options?: CallOptions): Call<Camel<InboundDelivery>>
  }
  invitations: {
    create(body: Camel<InvitationsCreateBody>, options?: CallOptions): Call<Camel<CreatedInvitation>>
    list(query?: Camel<InvitationsListQuery>, options?: CallOptions): Pages<Camel<Invitation>>
    delete(invitationId: string, options?: CallOptions): Call<Camel<Deletion>>
  }
  users: {
    list(query?: Camel<UsersListQuery>, options?: CallOptions): Pages<Camel<User>>
    get(userId: string, options?: CallOptions): Call<Camel<User>>
    update(userId: string, body: Camel<UsersUpdateBody>, options?: CallOptions): Call<Camel<User>>
    delete(userId: string, query?: Camel<UsersDeleteQuery>, options?: CallOptions): Call<Camel<Deletion>>
    sessionsList(userId: string, query?: Camel<UsersSessionsListQuery>, options?: CallOptions): Pages<Camel<Session>>
    sessionsDelete(userId: string, options?: CallOptions): Call<Camel<Deletion>>
  }
}
