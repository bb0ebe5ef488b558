// Generated from the OpenAPI document by scripts/client-types.ts.

import type { Call, CallOptions, KeyedOptions, SendOptions } from './call.ts'
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

/** Every operation that an API key can call. */
export interface Api {
  messages: {
    /** Send a message.
     *
     *  Postrider responds once the message is stored durably and delivers it afterwards. Sending to a suppressed recipient is not an error: that recipient gets the status `suppressed` and no delivery attempt. If all recipients are suppressed, so is the message. An attachment can be a `url`, which Postrider downloads first, for at most 10 s.
     *
     *  Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    send(body: SendMessage, options?: SendOptions): Call<AcceptedMessage>
    /** Send up to 500 messages.
     *
     *  Each message has its own result; a rejected message does not affect the others. All accepted messages are stored before the response. A large batch is stored in several steps. If a step fails, its messages have the error `unavailable`. `Idempotency-Key` applies to the whole batch, so retrying it sends nothing twice.
     *
     *  Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    batch(body: MessagesBatchBody, options?: KeyedOptions): Call<MessagesBatchAnswer>
    /** List messages.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: MessagesListQuery, options?: CallOptions): Pages<Message>
    /** Retrieve a message and the status of each recipient.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(messageId: string, options?: CallOptions): Call<Message>
    /** Reschedule a message.
     *
     *  Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    update(messageId: string, body: MessagesUpdateBody, options?: CallOptions): Call<Message>
    /** Retrieve the content of a message.
     *
     *  As JSON, as a single part, or as the raw message that was sent.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    content(messageId: string, query?: { part?: undefined }, options?: CallOptions): Call<MessageContent>
    /** Retrieve the content of a message.
     *
     *  As JSON, as a single part, or as the raw message that was sent.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    content(messageId: string, query: { part: 'html' | 'text' }, options?: CallOptions): Call<string>
    /** Retrieve the content of a message.
     *
     *  As JSON, as a single part, or as the raw message that was sent.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    content(messageId: string, query: { part: 'raw' }, options?: CallOptions): Call<Uint8Array>
    /** Delete the content of a message.
     *
     *  Deletes text, HTML, headers, attachments and the raw message. The message, its events and attempts remain. Refused while a delivery is open: cancel the message, or wait until it ends. Backups made before still contain the content.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    deleteContent(messageId: string, options?: CallOptions): Call<Deletion>
    /** List the events of a message.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    events(messageId: string, query?: MessagesEventsQuery, options?: CallOptions): Pages<Event>
    /** List the delivery attempts and reports of a message.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    attempts(messageId: string, options?: CallOptions): Call<MessagesAttemptsAnswer>
    /** List webhook deliveries of a message.
     *
     *  Deliveries of its events to all webhooks, with every attempt.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    webhookDeliveries(messageId: string, options?: CallOptions): Call<MessagesWebhookDeliveriesAnswer>
    /** Download an attachment.
     *
     *  Selected by its position in the `attachments` of the content, starting at 1.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    attachment(messageId: string, number: number, options?: CallOptions): Call<Uint8Array>
    /** Cancel a scheduled or queued message.
     *
     *  Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    cancel(messageId: string, options?: CallOptions): Call<Message>
    /** Resend a message.
     *
     *  Sends the same content to the same recipients as a new message. Requires that the content is still stored, and a key of the same mode. Suppressions and quota apply as for any new message.
     *
     *  Requires the permission `send`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    resend(messageId: string, options?: KeyedOptions): Call<AcceptedMessage>
    /** Analyze a message without sending it.
     *
     *  Checks a message for problems with mail clients and spam filters, without using the network. Each finding has a stable code:
     *
     *  See the table in `/docs` of your server.
     *
     *  Requires the permission `send`. Without `admin`, a key can access its own domain only. */
    analyze(body: MessagesAnalyzeBody, options?: CallOptions): Call<Analysis>
    /** Explain the delivery of a message.
     *
     *  The current state and next step for each recipient.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    explain(messageId: string, options?: CallOptions): Call<MessageExplanation>
  }
  apiKeys: {
    /** Create an API key.
     *
     *  The response contains the key value, which is shown only once; Postrider stores its hash. A key can grant the permissions it holds, and with `manage` also `send` and `read`. Without `admin` it can grant them for its own domain only. A test key can only create test keys. A key that expires cannot create one that lasts longer. A key limited to networks can only create keys within them.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected key. */
    create(body: ApiKeysCreateBody, options?: KeyedOptions): Call<CreatedApiKey>
    /** List API keys.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: ApiKeysListQuery, options?: CallOptions): Pages<ApiKey>
    /** Retrieve an API key.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(keyId: string, options?: CallOptions): Call<ApiKey>
    /** Update an API key’s name or networks.
     *
     *  Only the fields you send change. null removes the network restriction.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected key. */
    update(keyId: string, body: ApiKeysUpdateBody, options?: CallOptions): Call<ApiKey>
    /** Revoke an API key.
     *
     *  Takes effect immediately; the record remains. The calling key must be able to grant every permission of the revoked key: `manage` cannot revoke an `admin` key.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected key. */
    revoke(keyId: string, options?: CallOptions): Call<Deletion>
    /** Rotate an API key.
     *
     *  Creates a new key with the same mode, expiry and networks. Both keys work until the grace period ends; then the old key gets 401. Expired, revoked or already rotated keys cannot be rotated. The calling key must be able to grant every permission of the rotated key.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. The key must be able to grant every permission of the affected key. */
    rotate(keyId: string, body?: ApiKeysRotateBody, options?: KeyedOptions): Call<RotatedApiKey>
  }
  domains: {
    /** Add a sending domain.
     *
     *  Creates two DKIM keys, RSA-2048 and Ed25519; both sign every message. The response lists the DNS records to publish. The domain is `pending` until DNS has its DKIM records or its ownership record. A pending domain does not receive, forward or track, and sends test messages only. Live sending requires the DKIM records. Returns 409 if the organization already has the name, another organization has verified it, or it is a host name of this server or of another domain.
     *
     *  Requires the permission `manage`. Test keys get 403. */
    create(body: DomainsCreateBody, options?: KeyedOptions): Call<Domain>
    /** List sending domains.
     *
     *  Requires `manage`. */
    list(query?: DomainsListQuery, options?: CallOptions): Pages<Domain>
    /** Retrieve a domain and its DNS status.
     *
     *  Requires `manage`. */
    get(domainId: string, options?: CallOptions): Call<Domain>
    /** Update tracking settings.
     *
     *  Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only. */
    update(domainId: string, body: DomainsUpdateBody, options?: CallOptions): Call<Domain>
    /** Delete a domain and revoke its API keys.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    delete(domainId: string, options?: CallOptions): Call<Deletion>
    /** Find the DNS provider of a domain.
     *
     *  Queries the name servers of the domain. All fields are null if the provider is not known.
     *
     *  Requires `manage`. */
    dnsHost(domainId: string, options?: CallOptions): Call<DnsHost>
    /** Check the DNS records of a domain.
     *
     *  Queries DNS now and returns the result. A verified domain stays verified if DNS does not respond, and for seven days if its records are missing (`proof_missing_since`).
     *
     *  Requires the permission `manage`. Test keys get 403. */
    verify(domainId: string, options?: CallOptions): Call<Domain>
    /** Rotate DKIM keys.
     *
     *  Creates two new keys. They sign once their records are in DNS; then the old keys retire. With a delegated zone a domain has two pairs of selectors. Returns 422 with `retry_at` while the keys of the other pair retire, for a week after the last rotation.
     *
     *  Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only. */
    rotateDkim(domainId: string, options?: CallOptions): Call<Domain>
    /** Retrieve the DMARC sources of a domain.
     *
     *  Addresses that sent mail in the name of the domain, from the DMARC aggregate reports of receivers, most messages first, at most 500. `totals` count all. Reports of unknown reporters count in neither, and are in `unknown_reporters`: all but large receivers and those with reports about the domain on 7 days. `kind`: this server, a known mail service, or unknown. A name in `ptr` is confirmed by its address record; names that DNS has not answered yet are null. `advice` recommends a policy. Days are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days; at most 31 days.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    dmarc(domainId: string, query?: DomainsDmarcQuery, options?: CallOptions): Call<DmarcSources>
    /** Retrieve the TLS results of a domain.
     *
     *  TLS connections of other mail servers to the hosts of the domain, from their reports (RFC 8460), most sessions first, without those of unknown reporters. `result` is `success` or the name of the failure. Days are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days; at most 31 days.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    tlsReports(domainId: string, query?: DomainsTlsReportsQuery, options?: CallOptions): Call<TlsResults>
  }
  auditLog: {
    /** List audit log entries.
     *
     *  Every management operation is recorded, including rejected ones. Postrider writes an entry in the same transaction as the change and keeps it for one year. Sending and reading are not recorded here; see the messages for sending.
     *
     *  Requires the permission `admin`. Test keys can access test records only and get 404 for live ones. */
    list(query?: AuditLogListQuery, options?: CallOptions): Pages<AuditEntry>
  }
  usage: {
    /** Retrieve the plan and this month’s usage.
     *
     *  A limit of -1 means unlimited.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. */
    get(options?: CallOptions): Call<Usage>
  }
  billing: {
    /** Retrieve plan, usage history and available plans.
     *
     *  Usage of every past month, newest first, and the plans you can change to.
     *
     *  Requires the permission `admin`. Test keys can access test records only and get 404 for live ones. */
    get(options?: CallOptions): Call<Billing>
    /** Change the plan.
     *
     *  The operator decides which plans you can choose. A plan with fewer retention days deletes older data.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    update(body: BillingUpdateBody, options?: CallOptions): Call<Billing>
  }
  events: {
    /** List events.
     *
     *  Newest first; with `after`, oldest first and without gaps. To catch up after an outage, set `after` to the ID of the last event you processed and follow `next_cursor` until `has_more` is false. No event is missed or repeated.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: EventsListQuery, options?: CallOptions): Pages<Event>
    /** Stream events (server-sent events).
     *
     *  Events are sent as soon as they are stored. `id` is the event ID, `event` its type, and `data` the same envelope that webhooks get, byte for byte. Without `after`, the stream starts with new events. From time to time the stream sends an `id` alone to mark its position. Reconnect with `Last-Event-ID` set to the last ID you received; no event is lost or repeated. A browser’s EventSource reconnects this way but cannot send a key, so use `fetch`.
     *
     *  If there is no event for 15 seconds, the stream sends a comment line. The stream ends if the key is revoked or expires, if the server stops, or if the client reads nothing for one minute. Limits: 10 streams per key and 50 per organization.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    stream(query?: EventsStreamQuery, options?: CallOptions): EventStream
    /** Retrieve an event.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(eventId: string, options?: CallOptions): Call<Event>
  }
  explain: {
    /** Explain delivery to an address.
     *
     *  Describes what would happen to a live message to this address now, and why. With a test key, the answer uses DNS and the suppressions of test keys only. `site` covers all organizations on this server: for replies to other organizations, it shows only the reply class.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    address(query: ExplainAddressQuery, options?: CallOptions): Call<AddressExplanation>
  }
  stats: {
    /** Retrieve statistics by hour, day or month.
     *
     *  All counts are recipients. Periods are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days. At most 1000 hours or days, or 120 months. `accepted` includes suppressed recipients; `bounced` counts final bounces only; opens and clicks count people only. Rates are relative to recipients with a final outcome, or to delivered recipients. `group_by` adds the counts of the whole range by domain, tag or stream: the 100 largest groups, and the sum of the others. The range is then at most 400 days, by tag 100.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    read(query?: StatsReadQuery, options?: CallOptions): Call<Stats>
  }
  quality: {
    /** List bounce and complaint rates by domain.
     *
     *  Live messages of the last `window_hours`, with alerts. A `quality.alert` event fires when a rate exceeds its threshold with at least `min_sent` recipients, and again when it is well below it.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: QualityListQuery, options?: CallOptions): Pages<Quality>
  }
  suppressions: {
    /** List suppressions.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: SuppressionsListQuery, options?: CallOptions): Pages<Suppression>
    /** Add a suppression.
     *
     *  For one domain or for the whole organization, and for one stream or for every stream.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    create(body: SuppressionsCreateBody, options?: KeyedOptions): Call<Suppression>
    /** Retrieve a suppression.
     *
     *  By ID or address. For an address, returns the suppression with the widest scope.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(idOrEmail: string, options?: CallOptions): Call<Suppression>
    /** Remove a suppression.
     *
     *  Deletes one suppression by ID, or all suppressions of an address.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    delete(idOrEmail: string, options?: CallOptions): Call<Deletion>
    /** Export suppressions as CSV.
     *
     *  UTF-8 according to RFC 4180, newest first. Fields that start with `=`, `+`, `-`, `@`, a tab or `'` are prefixed with `'`, so that spreadsheets do not run them as formulas. Imports remove the prefix.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    export(query?: SuppressionsExportQuery, options?: CallOptions): Call<string>
    /** Import suppressions.
     *
     *  Accepts Postrider’s own CSV, or an export from Resend, Postmark, SendGrid, Mailgun, SES or Postal. Of our columns (`email`, `reason`, `domain_id`, `created_at`, `evidence`, `stream`) only `email` is required. Separators: comma, semicolon or tab. The body can be the CSV itself, with `Content-Type: text/csv`. Existing suppressions stay unchanged, so importing twice is safe. Unreadable lines are skipped. `errors` lists the first 100 by line number or by position in the array. Numbers start at one. If the plan’s suppression limit is reached, the import stops with 422 `quota_exceeded`; `details.added` counts the addresses added before that, which remain. Temporary failures are skipped and suppress nothing. At most 2000000 characters or 5000 objects; `postrider import suppressions` has no limit.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    import(body: SuppressionsImportBody, options?: CallOptions): Call<SuppressionImport>
  }
  recipients: {
    /** Erase a recipient.
     *
     *  Removes the address from live and test records: messages to nobody else, its part of other messages with their content, inbound messages from or to it, and events. Cancels queued mail to it. Statistics stay, and a keyed hash keeps a suppression. `remaining` lists users, invitations, routes and forward targets that still name it. Runs in the background. Backups keep the address.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    erase(body: RecipientsEraseBody, options?: CallOptions): Call<Erasure>
    /** List erasures.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    erasuresList(query?: RecipientsErasuresListQuery, options?: CallOptions): Pages<Erasure>
    /** Retrieve an erasure.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    erasureGet(erasureId: string, options?: CallOptions): Call<Erasure>
  }
  templates: {
    /** Create a template.
     *
     *  Templates use Liquid; output in html is escaped. A syntax error returns 400 with line and column. A variable that is missing when a message is sent returns 422 `template_error`, unless it has a default: `{{ name | default: "friend" }}`.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    create(body: TemplatesCreateBody, options?: KeyedOptions): Call<Template>
    /** List templates.
     *
     *  Omits `html`, `text` and `sample`.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    list(query?: TemplatesListQuery, options?: CallOptions): Pages<ListedTemplate>
    /** Retrieve a template.
     *
     *  By ID or alias; optionally an earlier version.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    get(templateId: string, query?: TemplatesGetQuery, options?: CallOptions): Call<Template>
    /** Update a template.
     *
     *  Changed content becomes a new version, which applies to all messages sent afterwards. Only the fields you send change. Concurrent edits to different fields merge; for the same field the last write wins. Previous content remains as versions.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    update(templateId: string, body: TemplatesUpdateBody, options?: CallOptions): Call<Template>
    /** Delete a template.
     *
     *  Deletes all its versions. Messages already created from it remain. A layout or partial that other templates use returns 409 with `used_by`.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    delete(templateId: string, options?: CallOptions): Call<Deletion>
    /** Render a template.
     *
     *  Renders it with your variables. Nothing is sent.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    render(templateId: string, body?: TemplatesRenderBody, options?: CallOptions): Call<RenderedTemplate>
    /** Preview unsaved template content.
     *
     *  Nothing is stored or sent. Variables without a value or a default appear as `[its.name]` and are listed in `missing`; sending would reject them.
     *
     *  Requires `manage`. */
    preview(body: TemplatesPreviewBody, options?: CallOptions): Call<TemplatePreview>
    /** List the versions of a template.
     *
     *  Omits `html` and `text`.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. */
    versions(templateId: string, query?: TemplatesVersionsQuery, options?: CallOptions): Pages<ListedTemplateVersion>
  }
  webhooks: {
    /** Create a webhook.
     *
     *  The response contains the signing secret, which is shown only once. Every request is signed. Webhooks created with a test key receive events of test messages only; those created without `admin` receive events of the key’s domain only. Each delivery has five attempts. A webhook is paused if its endpoint returns 410, or after 100 failed deliveries in a row over at least 24 hours.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    create(body: WebhooksCreateBody, options?: KeyedOptions): Call<CreatedWebhook>
    /** List webhooks.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: WebhooksListQuery, options?: CallOptions): Pages<Webhook>
    /** Retrieve a webhook.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(webhookId: string, options?: CallOptions): Call<Webhook>
    /** Update a webhook.
     *
     *  Set `status` to `paused` to stop a webhook and to `active` to start it again. While it is paused nothing is sent: events from that time are not sent later, and pending deliveries wait. `headers` replaces all of them; `null` or `{}` removes them. A `url` with another scheme, host or port also removes them, unless the request contains `headers`.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    update(webhookId: string, body: WebhooksUpdateBody, options?: CallOptions): Call<Webhook>
    /** Delete a webhook and its deliveries.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    delete(webhookId: string, options?: CallOptions): Call<Deletion>
    /** Send a test event.
     *
     *  Sends a sample event of any type, subscribed or not. It counts as a test message.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    test(webhookId: string, body: WebhooksTestBody, options?: CallOptions): Call<Event>
    /** Rotate the signing secret.
     *
     *  Postrider signs requests with both secrets until the grace period ends.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    rotateSecret(webhookId: string, body?: WebhooksRotateSecretBody, options?: KeyedOptions): Call<WebhookWithNewSecret>
    deliveries: {
      /** List the deliveries of a webhook.
       *
       *  Each delivery includes its attempts.
       *
       *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
      list(webhookId: string, query?: WebhookDeliveriesListQuery, options?: CallOptions): Pages<WebhookDelivery>
      /** Retrieve a webhook delivery and its attempts.
       *
       *  Also shows the request of the latest attempt, as the present signing secret signs it.
       *
       *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
      get(webhookId: string, deliveryId: string, options?: CallOptions): Call<WebhookDeliveryWithRequest>
      /** Retry a webhook delivery.
       *
       *  Sends it again now, whatever its status. Attempt numbers continue.
       *
       *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
      retry(webhookId: string, deliveryId: string, options?: CallOptions): Call<WebhookDelivery>
    }
    /** Replay past events.
     *
     *  Sends the events of a time range again, with the same event IDs.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    replay(webhookId: string, body: WebhooksReplayBody, options?: CallOptions): Call<WebhooksReplayAnswer>
  }
  inboundRoutes: {
    /** Create an inbound route.
     *
     *  The response contains the signing secret, which is shown only once. If several routes match a recipient, the one with the highest `priority` wins; then address before pattern before domain before catch-all. `a+tag@d` falls back to `a@d`. With `authentication`, `none` accepts all mail and reports the results. `dmarc` rejects mail that the author domain’s DMARC policy rejects. `require_pass` rejects mail that does not pass DMARC. Forwards count as sending. A forward target outside the organization’s verified domains is `pending` until its owner confirms it; Postrider emails the confirmation link now.
     *
     *  Requires the permission `manage`. Test keys get 403. Without `admin`, a key can access its own domain only. */
    create(body: InboundRoutesCreateBody, options?: KeyedOptions): Call<CreatedInboundRoute>
    /** List inbound routes.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: InboundRoutesListQuery, options?: CallOptions): Pages<InboundRoute>
    /** Retrieve an inbound route.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(routeId: string, options?: CallOptions): Call<InboundRoute>
    /** Update an inbound route.
     *
     *  Send `match` and `action` as complete objects. Without `headers`, a webhook action keeps those it has if scheme, host and port of `url` stay the same; otherwise they are removed.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    update(routeId: string, body: InboundRoutesUpdateBody, options?: CallOptions): Call<InboundRoute>
    /** Delete an inbound route.
     *
     *  Messages it received remain. Pending webhook deliveries fail.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    delete(routeId: string, options?: CallOptions): Call<Deletion>
    /** Resend confirmation requests to pending forward targets.
     *
     *  Each target gets an email from the route’s domain with a link that is valid for seven days. These emails belong to the server, so that your organization does not read the link. An address gets at most three requests per day, across all organizations. Targets whose owner stopped the forwarding get none, nor do targets whose mail this server receives: the operator passes on their link.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    confirmations(
      routeId: string,
      body?: InboundRoutesConfirmationsBody,
      options?: CallOptions,
    ): Call<ForwardConfirmations>
    /** Test which route would match a message.
     *
     *  Explains the decision. Nothing is sent.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    test(routeId: string, body: InboundRoutesTestBody, options?: CallOptions): Call<InboundRouteTest>
  }
  inboundMessages: {
    /** List inbound messages.
     *
     *  `status` is the status of the webhook delivery.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    list(query?: InboundMessagesListQuery, options?: CallOptions): Pages<InboundMessage>
    /** Retrieve an inbound message.
     *
     *  Includes the bodies, the headers and a list of the attachments.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    get(inboundMessageId: string, options?: CallOptions): Call<WholeInboundMessage>
    /** Download the raw inbound message.
     *
     *  The message as received, with our trace headers added at the top.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    raw(inboundMessageId: string, options?: CallOptions): Call<Uint8Array>
    /** List deliveries of an inbound message.
     *
     *  Each delivery includes its attempts.
     *
     *  Requires the permission `read`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    deliveries(inboundMessageId: string, options?: CallOptions): Call<InboundMessagesDeliveriesAnswer>
    /** Redeliver an inbound message.
     *
     *  Starts a new delivery to the endpoint with five attempts.
     *
     *  Requires the permission `manage`. Test keys can access test records only and get 404 for live ones. Without `admin`, a key can access its own domain only. */
    redeliver(inboundMessageId: string, options?: CallOptions): Call<InboundDelivery>
  }
  invitations: {
    /** Invite a user.
     *
     *  The link works once and expires after seven days. It replaces an earlier one for the same address, and stops working when the inviting user or key loses the right to invite. If the operator configured a sender, the server sends it by mail, which verifies the address. It sends at most three messages a day to an address, and fifty for an organization. `url` is another link for an operator, who can pass it on. It does not prove whose address it is: until the address is verified, the account has only this role. Others get null, because a link shows whether the address has an account. They get one while the server sends no mail to users and has only one organization.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    create(body: InvitationsCreateBody, options?: CallOptions): Call<CreatedInvitation>
    /** List open invitations.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    list(query?: InvitationsListQuery, options?: CallOptions): Pages<Invitation>
    /** Withdraw an invitation.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    delete(invitationId: string, options?: CallOptions): Call<Deletion>
  }
  users: {
    /** List users.
     *
     *  Users with a role in the organization. An operator who selects no organization gets all users.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    list(query?: UsersListQuery, options?: CallOptions): Pages<User>
    /** Retrieve a user.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    get(userId: string, options?: CallOptions): Call<User>
    /** Update a user.
     *
     *  Only the fields you send change. A change holds for the next request of the user. The last owner of an organization keeps the role unless an operator changes it, and the last operator cannot be disabled.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    update(userId: string, body: UsersUpdateBody, options?: CallOptions): Call<User>
    /** Remove a user.
     *
     *  Removes the role in the organization, and the account with its sessions if it has no other role. An operator who selects no organization deletes the account. Keys that the user made in the organization are revoked, unless `keys` is `keep`.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    delete(userId: string, query?: UsersDeleteQuery, options?: CallOptions): Call<Deletion>
    /** List sessions of a user.
     *
     *  For operators and users with roles in other organizations, only the operator can do this.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    sessionsList(userId: string, query?: UsersSessionsListQuery, options?: CallOptions): Pages<Session>
    /** Sign a user out everywhere.
     *
     *  For operators and users with roles in other organizations, only the operator can do this.
     *
     *  Requires the permission `admin`. Test keys get 403. */
    sessionsDelete(userId: string, options?: CallOptions): Call<Deletion>
  }
}
