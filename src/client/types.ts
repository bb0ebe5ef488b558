// Made of the OpenAPI document by scripts/client-types.ts.

import type { Call, CallOptions, KeyedOptions, SendOptions } from './call.ts'
import type { EventStream } from './event-stream.ts'
import type { Pages } from './pages.ts'

/** Every operation that an API key may ask for. */
export interface Api {
  messages: {
    /** Send a message.
     *
     *  Answered once the message is durable on disk; it is delivered after that. A suppressed recipient breaks nothing: it is answered as `suppressed`, and no attempt is made. A message whose recipients are all suppressed is so itself.
     *
     *  Needs the permission `send`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    send(body: SendMessage, options?: SendOptions): Call<AcceptedMessage>
    /** Send up to 500 messages, each with its own result.
     *
     *  One message that is refused does not stop the others: look at each result. All that are accepted are on disk when it is answered; a large batch is written in several steps, and when the disk refuses one of them, the messages that are not accepted have the error `unavailable`. `Idempotency-Key` is for the batch as a whole: a repeated request whose first answer was lost sends nothing twice.
     *
     *  Needs the permission `send`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    batch(body: MessagesBatchBody, options?: KeyedOptions): Call<MessagesBatchAnswer>
    /** List messages, newest first.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: MessagesListQuery, options?: CallOptions): Pages<Message>
    /** Read a message and the state of each recipient.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(messageId: string, options?: CallOptions): Call<Message>
    /** Move a scheduled message to another time.
     *
     *  Needs the permission `send`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    update(messageId: string, body: MessagesUpdateBody, options?: CallOptions): Call<Message>
    /** Read the content: as JSON, one part as it is, or the raw mail as it was sent.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    content(messageId: string, query?: { part?: undefined }, options?: CallOptions): Call<MessageContent>
    /** Read the content: as JSON, one part as it is, or the raw mail as it was sent.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    content(messageId: string, query: { part: 'html' | 'text' }, options?: CallOptions): Call<string>
    /** Read the content: as JSON, one part as it is, or the raw mail as it was sent.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    content(messageId: string, query: { part: 'raw' }, options?: CallOptions): Call<Uint8Array>
    /** List the events of a message, newest first.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    events(messageId: string, query?: MessagesEventsQuery, options?: CallOptions): Pages<Event>
    /** List all attempts to deliver a message and all reports that came back of it, newest first.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    attempts(messageId: string, options?: CallOptions): Call<MessagesAttemptsAnswer>
    /** How each webhook was told of a message, with every attempt; newest first.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    webhookDeliveries(messageId: string, options?: CallOptions): Call<MessagesWebhookDeliveriesAnswer>
    /** One attachment as it was given, by its place in the list of `content`, from 1.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    attachment(messageId: string, number: number, options?: CallOptions): Call<Uint8Array>
    /** Cancel a message that is scheduled or still queued.
     *
     *  Needs the permission `send`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    cancel(messageId: string, options?: CallOptions): Call<Message>
    /** Send the same content to the same recipients once more, as a new message.
     *
     *  Works as long as the content is kept, and with a key of the same mode. Suppressions and the quota count anew.
     *
     *  Needs the permission `send`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    resend(messageId: string, options?: KeyedOptions): Call<AcceptedMessage>
    /** Look for what readers and filters will mind in a message, without sending it.
     *
     *  Looks without any network at what readers and filters will mind. Each finding has a stable code:
     *
     *  See the table in `/docs` of your server.
     *
     *  Needs the permission `send`. Without `admin` a key reaches its own domain only. */
    analyze(body: MessagesAnalyzeBody, options?: CallOptions): Call<Analysis>
    /** Why each recipient of a message is where it is, and what happens next.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    explain(messageId: string, options?: CallOptions): Call<MessageExplanation>
  }
  apiKeys: {
    /** Create an API key; its value is shown this once.
     *
     *  A key grants only what it holds itself, and with `manage` also `send` and `read`; without `admin` only for its own domain. A test key makes test keys, a key that expires none that lasts longer, and a key of some networks none of others. Only a hash of the value is kept.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. Takes the right to grant all that the other key holds. */
    create(body: ApiKeysCreateBody, options?: KeyedOptions): Call<CreatedApiKey>
    /** List API keys, newest first.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: ApiKeysListQuery, options?: CallOptions): Pages<ApiKey>
    /** Read one API key.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(keyId: string, options?: CallOptions): Call<ApiKey>
    /** Rename an API key, or change the networks that it may be used from.
     *
     *  What is not given stays as it is; null lifts the limit to networks.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. Takes the right to grant all that the other key holds. */
    update(keyId: string, body: ApiKeysUpdateBody, options?: CallOptions): Call<ApiKey>
    /** Revoke an API key at once; its record stays.
     *
     *  Takes the right to grant all that the key holds: `manage` cannot revoke an `admin` key.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. Takes the right to grant all that the other key holds. */
    revoke(keyId: string, options?: CallOptions): Call<Deletion>
    /** Replace an API key by a new one; both work until the grace period ends.
     *
     *  A key that is expired, revoked or already rotated cannot be. When the grace period ends the old key is 401. The new key has the mode, end and networks of the old one. Takes the right to grant all that the key holds.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. Takes the right to grant all that the other key holds. */
    rotate(keyId: string, body?: ApiKeysRotateBody, options?: KeyedOptions): Call<RotatedApiKey>
  }
  domains: {
    /** Add a sending domain; the answer says which DNS records to publish.
     *
     *  Two DKIM keys are made, RSA-2048 and Ed25519, and both sign. The domain is `pending` until DNS has its DKIM records or its ownership record; until then it receives, forwards and tracks nothing and sends only test mail. Live mail needs the DKIM records. 409: the organization has the name already, another organization has proved it, or it is a name of this server or a host of another domain.
     *
     *  Needs the permission `manage`. A test key gets 403. */
    create(body: DomainsCreateBody, options?: KeyedOptions): Call<Domain>
    /** List sending domains, newest first.
     *
     *  Needs `manage`. */
    list(query?: DomainsListQuery, options?: CallOptions): Pages<Domain>
    /** Read one domain with its DNS records and what DNS last said of them.
     *
     *  Needs `manage`. */
    get(domainId: string, options?: CallOptions): Call<Domain>
    /** Change what is tracked, and under which host.
     *
     *  Needs the permission `manage`. A test key gets 403. Without `admin` a key reaches its own domain only. */
    update(domainId: string, body: DomainsUpdateBody, options?: CallOptions): Call<Domain>
    /** Remove a domain; its API keys are revoked.
     *
     *  Needs the permission `admin`. A test key gets 403. */
    delete(domainId: string, options?: CallOptions): Call<Deletion>
    /** Ask DNS now whether the records are published.
     *
     *  Answers what was found. A verified domain stays so when DNS does not answer, and for seven days when its records are missing (`proof_missing_since`).
     *
     *  Needs the permission `manage`. A test key gets 403. */
    verify(domainId: string, options?: CallOptions): Call<Domain>
    /** Make two new DKIM keys; they sign once their records are seen, then the old ones retire.
     *
     *  Needs the permission `manage`. A test key gets 403. Without `admin` a key reaches its own domain only. */
    rotateDkim(domainId: string, options?: CallOptions): Call<Domain>
  }
  auditLog: {
    /** Who did what, when, from where, and what came of it; newest first.
     *
     *  Everything that manages something has an entry here, also what was refused: written with the change itself, and kept for a year. Sending is told of by the messages, reading is not told of.
     *
     *  Needs the permission `admin`. A test key reaches test records only; live ones are 404 to it. */
    list(query?: AuditLogListQuery, options?: CallOptions): Pages<AuditEntry>
  }
  usage: {
    /** The plan, its limits (-1 = unlimited), and what is used of them this month.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. */
    get(options?: CallOptions): Call<Usage>
  }
  billing: {
    /** The same with every past month, newest first, and the plans you may change to.
     *
     *  Needs the permission `admin`. A test key reaches test records only; live ones are 404 to it. */
    get(options?: CallOptions): Call<Billing>
    /** Change the plan, where the operator allows it; a plan of fewer days removes what it does not keep.
     *
     *  Needs the permission `admin`. A test key gets 403. */
    update(body: BillingUpdateBody, options?: CallOptions): Call<Billing>
  }
  events: {
    /** List events, newest first; with `after` oldest first and without gaps.
     *
     *  To catch up after an outage, give `after` the id of the last event you have seen and go on with `next_cursor` until `has_more` is false; nothing is left out and nothing comes twice.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: EventsListQuery, options?: CallOptions): Pages<Event>
    /** Follow events as they happen (server-sent events).
     *
     *  Each event comes once it is on the disk: `id` is its id, `event` its type, `data` the envelope that webhooks get, byte for byte. Without `after` it begins now. An `id` alone, at the beginning and from time to time, says how far the stream has come. Come back with `Last-Event-ID`, the last id you saw, and nothing is missed and nothing comes twice; a browser's EventSource does so by itself, but cannot send a key, so use `fetch`.
     *
     *  Something comes every 15 seconds, a comment line when there is nothing else. The stream ends when the key is revoked or expires, when the server stops, and for a client that reads nothing for a minute. A key may have 10 at once, and an organization 50.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    stream(query?: EventsStreamQuery, options?: CallOptions): EventStream
    /** Read one event.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(eventId: string, options?: CallOptions): Call<Event>
  }
  explain: {
    /** What would happen to a live mail to this address now, and why.
     *
     *  With a test key it rests on DNS and on suppressions of test keys alone. `site` is about all organizations of this server: of replies to others only the class is shown.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    address(query: ExplainAddressQuery, options?: CallOptions): Call<AddressExplanation>
  }
  stats: {
    /** Counts by hour, day or month, and their totals with rates.
     *
     *  Counts are of recipients. Periods are whole and UTC: `from` is rounded down, `to` (exclusive) up; without them the last 30 days. At most 1000 hours or days, or 120 months. `accepted` holds the suppressed; `bounced` is final bounces only; opens and clicks are those of people. Rates are over the recipients whose fate is known, or over those delivered.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    read(query?: StatsReadQuery, options?: CallOptions): Call<Stats>
  }
  quality: {
    /** Bounce and complaint rates of each domain at present, with its alerts.
     *
     *  Live mail only, over the last `window_hours`. `quality.alert` is told when a rate goes over its threshold with at least `min_sent` recipients, and when it is well under it again.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: QualityListQuery, options?: CallOptions): Pages<Quality>
  }
  suppressions: {
    /** List suppressed addresses, newest first.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: SuppressionsListQuery, options?: CallOptions): Pages<Suppression>
    /** Suppress an address for one domain or for the whole organization.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    create(body: SuppressionsCreateBody, options?: KeyedOptions): Call<Suppression>
    /** Read one suppression by id or address; of an address the one that reaches furthest.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(idOrEmail: string, options?: CallOptions): Call<Suppression>
    /** Remove one suppression by id, or all of an address.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    delete(idOrEmail: string, options?: CallOptions): Call<Deletion>
    /** All suppressed addresses as CSV, newest first.
     *
     *  UTF-8 by RFC 4180. A field that begins with `=`, `+`, `-`, `@`, a tab or `'` has a `'` before it, so that no spreadsheet takes it for a formula; importing takes it away.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    export(query?: SuppressionsExportQuery, options?: CallOptions): Call<string>
    /** Suppress the addresses of a list: our own CSV, or an export of Resend, Postmark, SendGrid or Mailgun.
     *
     *  Of our own columns (`email`, `reason`, `domain_id`, `created_at`, `evidence`) only `email` must be there; separated by comma, semicolon or tab. The body may be the CSV itself, with `Content-Type: text/csv`. What is suppressed already stays as it is, so that twice is harmless. A line that cannot be read does not stop the others: `errors` names the first 100, by line, or by place in the array, from 1. At the plan's limit of suppressions the import ends with 422 `quota_exceeded`; what was added before stays, and `details.added` counts it. Passing failures suppress nothing and are passed over. At most 2000000 characters or 5000 objects; `postrider import suppressions` takes any number.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    import(body: SuppressionsImportBody, options?: CallOptions): Call<SuppressionImport>
  }
  templates: {
    /** Create a template; its texts are written in Liquid, and html escapes what is put into it.
     *
     *  A template that is no Liquid is 400 with line and column. A variable that is missing when a message is made is 422 `template_error`, unless it has a default: `{{ name | default: "friend" }}`.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    create(body: TemplatesCreateBody, options?: KeyedOptions): Call<Template>
    /** List templates, newest first, without html and text.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    list(query?: TemplatesListQuery, options?: CallOptions): Pages<ListedTemplate>
    /** Read one template, by id or alias, as it is or as it was in a version.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    get(templateId: string, query?: TemplatesGetQuery, options?: CallOptions): Call<Template>
    /** Change a template; new texts are a new version, and messages sent from now on are made from it.
     *
     *  What is not given stays as it is. Of several changes at once none is lost; where two give the same field the last one wins, and texts that stood before are kept as versions.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    update(templateId: string, body: TemplatesUpdateBody, options?: CallOptions): Call<Template>
    /** Remove a template with its versions; messages made from it stay.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    delete(templateId: string, options?: CallOptions): Call<Deletion>
    /** See what a template becomes with these variables; nothing is sent.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    render(templateId: string, body?: TemplatesRenderBody, options?: CallOptions): Call<RenderedTemplate>
    /** See what texts become that are still being written; nothing is kept or sent.
     *
     *  A variable that is not given and has no default stands as `[its.name]`, and is named in `missing`; sending would refuse it.
     *
     *  Needs `manage`. */
    preview(body: TemplatesPreviewBody, options?: CallOptions): Call<TemplatePreview>
    /** List the versions of a template, newest first, without html and text.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. */
    versions(templateId: string, query?: TemplatesVersionsQuery, options?: CallOptions): Pages<ListedTemplateVersion>
  }
  webhooks: {
    /** Subscribe an HTTPS address to events; the signing secret is shown this once.
     *
     *  Every request is signed. A webhook of a test key gets events of test mail only, that of a key without `admin` events of its domain only. A delivery has five attempts; an endpoint that answers 410, or fails a hundred times in a row over a day, is paused.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    create(body: WebhooksCreateBody, options?: KeyedOptions): Call<CreatedWebhook>
    /** List webhooks, newest first.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: WebhooksListQuery, options?: CallOptions): Pages<Webhook>
    /** Read one webhook.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(webhookId: string, options?: CallOptions): Call<Webhook>
    /** Change a webhook; `paused` stops it, `active` starts it again.
     *
     *  While it is paused nothing is sent: events of that time are not sent later, and pending deliveries wait.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    update(webhookId: string, body: WebhooksUpdateBody, options?: CallOptions): Call<Webhook>
    /** Remove a webhook with its deliveries.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    delete(webhookId: string, options?: CallOptions): Call<Deletion>
    /** Send a sample event to this webhook, whatever it subscribed to; it counts as a test message.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    test(webhookId: string, body: WebhooksTestBody, options?: CallOptions): Call<Event>
    /** Make a new signing secret; until the grace period ends requests are signed with both.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    rotateSecret(webhookId: string, body?: WebhooksRotateSecretBody, options?: KeyedOptions): Call<WebhookWithNewSecret>
    deliveries: {
      /** List deliveries of a webhook with their attempts, newest first.
       *
       *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
      list(webhookId: string, query?: WebhookDeliveriesListQuery, options?: CallOptions): Pages<WebhookDelivery>
      /** Read one delivery with its attempts.
       *
       *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
      get(webhookId: string, deliveryId: string, options?: CallOptions): Call<WebhookDelivery>
      /** Try a delivery once more now, whatever became of it; the attempts go on counting.
       *
       *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
      retry(webhookId: string, deliveryId: string, options?: CallOptions): Call<WebhookDelivery>
    }
    /** Send past events of a time range again, with the same event ids.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    replay(webhookId: string, body: WebhooksReplayBody, options?: CallOptions): Call<WebhooksReplayAnswer>
  }
  inboundRoutes: {
    /** Say what happens to mail for an address, pattern or domain; the signing secret is shown this once.
     *
     *  Of all routes that match a recipient the one with the highest `priority` takes the mail, then address before pattern before domain before catch-all. `a+tag@d` falls back to `a@d`. `authentication`: `none` takes everything and tells the verdicts, `dmarc` refuses what the author’s own policy wants refused, `require_pass` all that does not pass DMARC. A forward counts as sending. A target that is not at a verified domain of the organization is `pending` until its owner confirms it by the link in a mail that is sent now.
     *
     *  Needs the permission `manage`. A test key gets 403. Without `admin` a key reaches its own domain only. */
    create(body: InboundRoutesCreateBody, options?: KeyedOptions): Call<CreatedInboundRoute>
    /** List inbound routes, newest first.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: InboundRoutesListQuery, options?: CallOptions): Pages<InboundRoute>
    /** Read one inbound route.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(routeId: string, options?: CallOptions): Call<InboundRoute>
    /** Change an inbound route; match and action are given whole.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    update(routeId: string, body: InboundRoutesUpdateBody, options?: CallOptions): Call<InboundRoute>
    /** Remove an inbound route; its messages stay, what was still to be posted has failed.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    delete(routeId: string, options?: CallOptions): Call<Deletion>
    /** Ask the owners of pending forward targets once more to confirm.
     *
     *  Each gets a mail from the domain of the route with a link that works for seven days. The mails count as sent messages. An address is asked at most three times a day, by all organizations together; one whose owner stopped the forwarding is not asked again.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    confirmations(
      routeId: string,
      body?: InboundRoutesConfirmationsBody,
      options?: CallOptions,
    ): Call<ForwardConfirmations>
    /** Ask which route would take a mail, and why; nothing is sent.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    test(routeId: string, body: InboundRoutesTestBody, options?: CallOptions): Call<InboundRouteTest>
  }
  inboundMessages: {
    /** List mail that came in, newest first; `status` is that of what is owed to an endpoint.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    list(query?: InboundMessagesListQuery, options?: CallOptions): Pages<InboundMessage>
    /** Read one mail that came in, with its texts, headers and a list of its attachments.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    get(inboundMessageId: string, options?: CallOptions): Call<WholeInboundMessage>
    /** Read the raw mail as it came, with our trace headers in front.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    raw(inboundMessageId: string, options?: CallOptions): Call<Uint8Array>
    /** List the deliveries of a mail to its endpoint with their attempts, newest first.
     *
     *  Needs the permission `read`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    deliveries(inboundMessageId: string, options?: CallOptions): Call<InboundMessagesDeliveriesAnswer>
    /** Post a mail to its endpoint once more: a new delivery with five attempts.
     *
     *  Needs the permission `manage`. A test key reaches test records only; live ones are 404 to it. Without `admin` a key reaches its own domain only. */
    redeliver(inboundMessageId: string, options?: CallOptions): Call<InboundDelivery>
  }
}

export interface AcceptedMessage {
  id: string
  /** The same as `id`. */
  message_id: string
  /** `partial`: every recipient is final, but they differ. `queued`, `scheduled`, `deferred`: still to be tried. */
  status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  created_at: string
  scheduled_at?: string
  recipients: Array<{
    email: string
    type: 'to' | 'cc' | 'bcc'
    status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
  }>
}

export interface AddressExplanation {
  to: string
  would_send: boolean
  /** In plain words, most important first. */
  explanation: Array<string>
  /** Why no live mail of the key’s domain is accepted at present, whoever it is for. */
  refused_with: 'domain_not_verified' | 'invalid_state' | 'quota_exceeded' | null
  suppressions: Array<Suppression>
  /** Null: not asked, because nothing more is tried. */
  mx_hosts: Array<string> | null
  /** On whose word the connection to the first host must prove something; null where there is no host. */
  tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required' | null
  dns_problem: string | null
  /** Deliveries to that site at once. Null where no engine runs, or nothing more is tried. */
  slots: {
    limit: number
    under_way: number
  } | null
  /** The receiving site: all domains whose best MX hosts have the same registrable domain share it. */
  site: {
    name: string
    state: 'unknown' | 'proven' | 'troubled' | 'paused'
    /** At once, at present. */
    connections: number
    max_connections: number
    lowered_at: string | null
    /** The class of the reply after which the limit was lowered, such as `rate`; the text is not shown. */
    lowered_because: string | null
    paused_until: string | null
  } | null
  last_message: {
    message_id: string
    created_at: string
    mode: 'live' | 'test'
    status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
    attempts: number
    last_attempt_at: string | null
    next_attempt_at: string | null
    smtp_response: string | null
    /** What the codes of the reply mean. */
    meaning: string | null
  } | null
}

export interface Analysis {
  score: number
  verdict: 'good' | 'warning' | 'bad'
  issues: Array<{
    code:
      | 'auth_domain_unverified'
      | 'auth_dkim_missing'
      | 'auth_dkim_mismatch'
      | 'auth_spf_missing'
      | 'auth_spf_mismatch'
      | 'auth_return_path_missing'
      | 'auth_dmarc_missing'
      | 'auth_dmarc_none'
      | 'auth_not_checked'
      | 'from_no_reply'
      | 'from_name_missing'
      | 'from_name_address'
      | 'from_name_capitals'
      | 'reply_to_other_domain'
      | 'reply_to_free_mail'
      | 'header_high_priority'
      | 'subject_missing'
      | 'subject_short'
      | 'subject_long'
      | 'subject_capitals'
      | 'subject_punctuation'
      | 'subject_spam_phrase'
      | 'subject_emoji'
      | 'subject_fake_reply'
      | 'subject_html'
      | 'subject_blanks'
      | 'content_empty'
      | 'text_missing'
      | 'text_empty'
      | 'text_html_mismatch'
      | 'content_spam_phrases'
      | 'content_capitals'
      | 'content_placeholder'
      | 'content_hidden_text'
      | 'content_invisible_colour'
      | 'unsubscribe_missing'
      | 'unsubscribe_header_missing'
      | 'unsubscribe_link_missing'
      | 'variables_unresolved'
      | 'variables_undefined'
      | 'html_unclosed_tag'
      | 'html_misnested_tag'
      | 'html_stray_close'
      | 'html_cut_tag'
      | 'html_self_closed'
      | 'html_duplicate_attribute'
      | 'html_doctype_missing'
      | 'html_charset_missing'
      | 'html_lang_missing'
      | 'size_clipped'
      | 'size_near_clip'
      | 'size_large'
      | 'size_not_read_whole'
      | 'image_alt_missing'
      | 'image_only'
      | 'image_heavy'
      | 'image_without_source'
      | 'image_relative'
      | 'image_insecure'
      | 'image_data'
      | 'image_cid_unknown'
      | 'image_size_missing'
      | 'image_tracking_pixel'
      | 'remote_content'
      | 'link_insecure'
      | 'link_ip_host'
      | 'link_local_host'
      | 'link_shortener'
      | 'link_text_mismatch'
      | 'link_look_alike'
      | 'link_credentials'
      | 'link_scheme'
      | 'link_empty'
      | 'link_relative'
      | 'link_invalid'
      | 'link_without_text'
      | 'link_vague_text'
      | 'links_many'
      | 'active_script'
      | 'active_event_handler'
      | 'active_frame'
      | 'active_object'
      | 'active_form'
      | 'active_refresh'
      | 'active_base'
      | 'attachment_blocked'
      | 'attachment_macros'
      | 'attachment_html'
      | 'attachment_archive'
      | 'css_flexbox'
      | 'css_grid'
      | 'css_position'
      | 'css_float'
      | 'css_background_image'
      | 'css_gradient'
      | 'css_external_stylesheet'
      | 'css_import'
      | 'css_style_in_body'
      | 'css_variables'
      | 'css_web_font'
      | 'css_media_query'
      | 'css_supports'
      | 'css_animation'
      | 'css_transform'
      | 'css_filter'
      | 'css_shadow'
      | 'css_border_radius'
      | 'css_max_width'
      | 'css_object_fit'
      | 'css_functions'
      | 'css_viewport_units'
      | 'css_modern_colour'
      | 'css_pseudo_element'
      | 'css_attribute_selector'
      | 'css_gap'
      | 'html_video'
      | 'html_audio'
      | 'html_svg'
      | 'html_svg_image'
      | 'html_modern_image'
      | 'html_picture'
      | 'html_canvas'
      | 'html_button'
      | 'html_details'
      | 'html_math'
    severity: 'error' | 'warning' | 'info'
    category:
      | 'authentication'
      | 'addresses'
      | 'subject'
      | 'content'
      | 'variables'
      | 'html'
      | 'size'
      | 'images'
      | 'links'
      | 'active'
      | 'clients'
      | 'attachments'
    /** What is wrong, and what to do. */
    message: string
    field: string
    penalty: number
  }>
  stats: {
    size_bytes: number
    subject_characters: number
    html_bytes: number
    text_bytes: number
    words: number
    links: number
    images: number
    remote_images: number
    attachments: number
    /** Share of the images in the area of images and text, 0 to 1. */
    image_text_ratio: number
  }
  links: Array<{
    url: string
    text: string
    problems: Array<
      | 'link_insecure'
      | 'link_ip_host'
      | 'link_local_host'
      | 'link_shortener'
      | 'link_text_mismatch'
      | 'link_look_alike'
      | 'link_credentials'
      | 'link_scheme'
      | 'link_empty'
      | 'link_relative'
      | 'link_invalid'
      | 'link_without_text'
      | 'link_vague_text'
    >
  }>
  rendered: {
    subject: string | null
    html: string | null
    text: string | null
  }
}

export interface ApiKey {
  id: string
  name: string
  domain_id: string
  /** Its name; null when it was removed. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to tell keys apart. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** The key that replaces it. */
  rotated_to: string | null
  /** CIDR networks that it may be used from; it is 401 from elsewhere. null = from anywhere. */
  allowed_networks: Array<string> | null
}

export interface Attempt {
  recipient: string
  number: number
  started_at: string
  duration_ms: number
  /** `unknown`: the connection was lost after the final dot; tried again with the same Message-ID. */
  outcome: 'delivered' | 'deferred' | 'bounced' | 'unknown'
  mx_host: string | null
  mx_ip: string | null
  source_ip: string | null
  tls_version: string | null
  tls_cipher: string | null
  tls_verified: boolean
  /** Who demanded proof: nobody, the MTA-STS policy of the domain (watched or obeyed), its TLSA records, `require_tls`. */
  tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required'
  smtp_response: string | null
  enhanced_code: string | null
  cause: {
    class: string
    rule: string
  } | null
  /** The SMTP dialogue with milliseconds; without the mail, credentials struck out. */
  transcript: string
}

export interface AuditEntry {
  id: string
  created_at: string
  actor: {
    type: 'api_key' | 'operator' | 'server'
    /** Of the key; `operator` for whoever runs this server. */
    id: string
    /** The key's name at that time; of an operator the local user. */
    name: string
  }
  /** The operation, by its `operationId`. */
  action: string
  /** What it was done to, or what it made. */
  resource_id: string | null
  /** What came of it, when that is another: the new key of a rotation. */
  created_id: string | null
  /** Names of the fields that were given, never their values. */
  fields: Array<string>
  /** Of the client; null at the command line. */
  ip_address: string | null
  /** `done`, `repeated` (an Idempotency-Key brought the first answer again), or the code of the error. */
  outcome: string
  request_id: string
}

export interface Billing {
  organization_id: string
  plan: string
  /** -1 = unlimited. Null: the plan is no longer configured. */
  limits: {
    /** Of each key. */
    requests_per_minute: number
    /** Recipients accepted for live sending, and forwarded ones. */
    messages_per_month: number
    domains: number
    retention_days: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** Kept of each template; the oldest go. */
    template_versions: number
    /** That work; as many again may be in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    stored_bytes: number
    /** Recipients of test messages. */
    test_messages_per_month: number
    /** Recipients of forward routes. */
    forwards_per_day: number
    /** For those added by hand and by import; bounces and complaints always add theirs. */
    suppressions: number
  } | null
  usage: {
    /** UTC */
    month: string
    /** Recipients accepted for live sending, and forwarded ones. */
    messages: number
    /** Recipients of test messages. */
    test_messages: number
    domains: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** That work, without those in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    /** Messages count their size and 2 KiB, metadata and subject for each recipient; inbound mail twice its size and 2 KiB; templates and remembered answers their size. */
    stored_bytes: number
    suppressions: number
    /** When messages and test messages start again. */
    resets_at: string
    /** UTC */
    day: string
    /** Recipients of forward routes on that day. */
    forwards: number
    /** When forwards start again. */
    day_resets_at: string
  }
  /** Newest first. */
  past_months: Array<{
    /** UTC */
    month: string
    messages: number
  }>
  /** Those you may change to. */
  self_service_plans: Array<{
    plan: string
    /** -1 = unlimited. Null: the plan is no longer configured. */
    limits: {
      /** Of each key. */
      requests_per_minute: number
      /** Recipients accepted for live sending, and forwarded ones. */
      messages_per_month: number
      domains: number
      retention_days: number
      webhooks: number
      inbound_routes: number
      templates: number
      /** Kept of each template; the oldest go. */
      template_versions: number
      /** That work; as many again may be in the grace period of a rotation. */
      api_keys: number
      scheduled_messages: number
      stored_bytes: number
      /** Recipients of test messages. */
      test_messages_per_month: number
      /** Recipients of forward routes. */
      forwards_per_day: number
      /** For those added by hand and by import; bounces and complaints always add theirs. */
      suppressions: number
    } | null
  }>
}

export interface CreatedApiKey {
  id: string
  name: string
  domain_id: string
  /** Its name; null when it was removed. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to tell keys apart. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** The key that replaces it. */
  rotated_to: string | null
  /** CIDR networks that it may be used from; it is 401 from elsewhere. null = from anywhere. */
  allowed_networks: Array<string> | null
  /** The key itself, shown this once. */
  key: string
}

export interface CreatedInboundRoute {
  id: string
  name: string
  match: {
    type: 'address' | 'domain' | 'pattern' | 'catch_all'
    value: string | null
  }
  /** The domain that it is for; null = every domain, of a catch-all that a key with `admin` made. */
  domain: string | null
  action:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments: boolean
        }
      }
    | {
        type: 'forward'
        config: {
          to: Array<ForwardTarget>
        }
      }
    | {
        type: 'store'
        config: Record<string, never>
      }
  authentication: 'none' | 'dmarc' | 'require_pass'
  enabled: boolean
  priority: number
  created_at: string
  /** For checking signatures; shown this once. */
  secret: string
}

export interface CreatedWebhook {
  id: string
  url: string
  events: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  /** The shape of what is posted. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: made by a test key, gets events of test mail only. */
  mode: 'live' | 'test'
  /** It gets events of that domain only; null = of every domain. */
  domain_id: string | null
  description: string | null
  /** Why it was paused by itself. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  last_success_at: string | null
  last_failure_at: string | null
  consecutive_failures: number
  /** For checking signatures; shown this once. */
  secret: string
}

export interface Deletion {
  id: string
  deleted: true
}

export interface Domain {
  id: string
  /** Lower case, international names as `xn--`. */
  name: string
  status: 'pending' | 'verified' | 'failed'
  /** What to know of the state: missing proof, another organization that has proved the name. */
  detail: string | null
  /** The record that proves the name; with `txt` the domain receives and does not send live mail. */
  proved_by: 'dkim' | 'txt' | null
  /** Since when a verified domain is without its proof; after seven days it fails. */
  proof_missing_since: string | null
  created_at: string
  verified_at: string | null
  last_checked_at: string | null
  dkim: Array<{
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256'
    state: 'pending' | 'active' | 'retiring'
    created_at: string
  }>
  return_path_host: string
  tracking: {
    opens: boolean
    clicks: boolean
    unsubscribe: boolean
    /** A host under the domain for links; null = that of this server. */
    host: string | null
  }
  /** What is to be published. */
  dns_records: Array<{
    purpose: 'dkim' | 'ownership' | 'spf' | 'dmarc' | 'return_path' | 'mx' | 'tracking' | 'mta_sts' | 'mta_sts_host'
    type: 'TXT' | 'MX' | 'CNAME'
    name: string
    value: string
    priority: number | null
    required: boolean
    status: 'pending' | 'valid' | 'missing' | 'mismatch'
    /** What DNS answered when it was last asked. */
    found: Array<string>
  }>
}

export interface ApiError {
  error: {
    code:
      | 'validation_error'
      | 'unauthorized'
      | 'forbidden'
      | 'not_found'
      | 'method_not_allowed'
      | 'conflict'
      | 'payload_too_large'
      | 'domain_not_verified'
      | 'template_error'
      | 'quota_exceeded'
      | 'invalid_state'
      | 'rate_limited'
      | 'internal_error'
      | 'unavailable'
    /** For people; may change. */
    message: string
    /** The first field at fault: `attachments[0].content`. */
    field?: string
    /** Always with the id of the request. */
    details: {
      request_id: string
      [name: string]: unknown
    }
    /** With `validation_error`: every field at fault. */
    errors?: Array<{
      field: string
      message: string
    }>
    /** With `rate_limited`: seconds, the same as `Retry-After`. */
    retry_after?: number
  }
}

export type Event =
  | MessageDeliveredEvent
  | MessageBouncedEvent
  | MessageDeferredEvent
  | MessageOpenedEvent
  | MessageClickedEvent
  | MessageUnsubscribedEvent
  | MessageComplainedEvent
  | QualityAlertEvent

export interface ForwardConfirmations {
  data: Array<{
    email: string
    status: 'pending' | 'confirmed'
    /** A confirmation mail is on its way. */
    sent: boolean
    /** Why none was sent to a pending target: enough for today, its owner stopped it, or suppressed. */
    reason: 'too_many' | 'stopped' | 'suppressed' | null
  }>
}

export interface ForwardTarget {
  email: string
  /** Nothing is forwarded to a pending target. */
  status: 'pending' | 'confirmed'
  /** Its owner ended the forwarding, and is not asked again. */
  is_stopped: boolean
}

export interface InboundDelivery {
  id: string
  inbound_message_id: string
  route_id: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: Array<PostAttempt>
  next_attempt_at: string | null
  created_at: string
}

export interface InboundMessage {
  id: string
  /** Null: mail for `postmaster` or `abuse` that no route takes. */
  route_id: string | null
  domain_id: string
  action: 'webhook' | 'forward' | 'store'
  status: 'pending' | 'delivered' | 'failed' | 'stored'
  /** Address of the From header; empty when there is none. */
  from: string
  /** The envelope recipients that the route matched. */
  to: Array<string>
  subject: string
  message_id: string
  return_path: string
  sender_ip: string
  helo: string
  tls: string | null
  size_bytes: number
  spf_result: 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror' | 'policy'
  dkim_result: 'none' | 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror'
  dmarc_result: 'none' | 'pass' | 'fail' | 'temperror' | 'permerror'
  arc_result: 'none' | 'pass' | 'fail'
  parse_error: string | null
  forwarded_as: string | null
  /** Forward targets that the mail was not sent on to, and why. */
  not_forwarded: Array<{
    email: string
    reason: 'pending_confirmation' | 'stopped' | 'domain_not_verified'
  }>
  created_at: string
}

export interface InboundReceived {
  event: 'inbound'
  timestamp: string
  from: string
  to: Array<string>
  subject: string
  message_id: string
  text_body: string
  html_body: string
  /** Names in lower case; several values of one, one a line. */
  headers: Record<string, string>
  attachments: Array<{
    filename: string
    content_type: string
    size: number
  }>
  /** With `include_attachments`: base64, in the order of `attachments`. */
  attachments_data?: Array<{
    filename: string
    content_type: string
    content: string
  }>
  spf_result: 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror' | 'policy'
  dkim_result: 'none' | 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror'
  dmarc_result: 'none' | 'pass' | 'fail' | 'temperror' | 'permerror'
  sender_ip: string
}

export interface InboundRoute {
  id: string
  name: string
  match: {
    type: 'address' | 'domain' | 'pattern' | 'catch_all'
    value: string | null
  }
  /** The domain that it is for; null = every domain, of a catch-all that a key with `admin` made. */
  domain: string | null
  action:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments: boolean
        }
      }
    | {
        type: 'forward'
        config: {
          to: Array<ForwardTarget>
        }
      }
    | {
        type: 'store'
        config: Record<string, never>
      }
  authentication: 'none' | 'dmarc' | 'require_pass'
  enabled: boolean
  priority: number
  created_at: string
}

export interface InboundRouteTest {
  /** Null = no route; the mail would be refused. */
  taken_by: InboundRoute | null
  /** It is the route that was asked about. */
  takes: boolean
  by: 'address' | 'domain' | 'pattern' | 'catch_all' | null
  /** The route knows `a@d`; asked was `a+tag@d`. */
  via_bare_address: boolean
  reason: string
  considered: Array<{
    id: string
    name: string
    matches: boolean
    reason: string
  }>
}

export interface ListedTemplate {
  id: string
  /** Another name for it. Live and test templates have their aliases apart. */
  alias: string | null
  name: string
  /** `test`: made by a test key, for test messages only. Test messages may use live ones too. */
  mode: 'live' | 'test'
  /** Null = each message brings its own. */
  subject: string | null
  /** Found in the texts, in the order of their first use. */
  variables: Array<string>
  /** Counts up when the texts change. */
  version: number
  created_at: string
  updated_at: string
}

export interface ListedTemplateVersion {
  /** Counts up when the texts change. */
  version: number
  /** Null = each message brings its own. */
  subject: string | null
  /** Found in the texts, in the order of their first use. */
  variables: Array<string>
  created_at: string
}

export interface Message {
  id: string
  mode: 'live' | 'test'
  /** `partial`: every recipient is final, but they differ. `queued`, `scheduled`, `deferred`: still to be tried. */
  status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  from: string
  /** In the form it was sent in. */
  to: string | Array<string> | null
  cc: string | Array<string> | null
  bcc: string | Array<string> | null
  reply_to: string | Array<string> | null
  subject: string
  tags: Array<string>
  metadata: Record<string, string | number | boolean>
  template_id: string | null
  domain_id: string
  /** Of what was handed in: subject, html, text, and the attachments as base64; by SMTP the whole mail. */
  size_bytes: number
  message_id_header: string
  created_at: string
  scheduled_at: string | null
  source: 'api' | 'smtp'
  recipients: Array<Recipient>
}

export interface MessageBouncedEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.bounced'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    bounce_type: 'hard' | 'soft'
    bounce_code: string
    bounce_message: string
    bounced_at: string
    will_retry: boolean
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageClickedEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.clicked'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    clicked_at: string
    url: string
    user_agent: string | null
    ip_address: string | null
    /** A known machine did it, not a person. */
    machine: boolean
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageComplainedEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.complained'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    complained_at: string
    feedback_type: string | null
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageContent {
  id: string
  subject: string
  html: string | null
  text: string | null
  headers: Record<string, string>
  attachments: Array<{
    filename: string
    content_type: string
    content_id: string | null
    size_bytes: number
  }>
}

export interface MessageDeferredEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.deferred'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    deferred_at: string
    attempt: number
    next_attempt_at: string | null
    smtp_response: string
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageDeliveredEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.delivered'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    delivered_at: string
    smtp_response: string
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageExplanation {
  message_id: string
  status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  mode: 'live' | 'test'
  recipients: Array<{
    email: string
    type: 'to' | 'cc' | 'bcc'
    /** In plain words, most important first. */
    explanation: Array<string>
    status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
    attempts: number
    last_attempt_at: string | null
    next_attempt_at: string | null
    smtp_response: string | null
    /** What the codes of the reply mean. */
    meaning: string | null
    bounce_class: string | null
    rule: string | null
    suppressions: Array<Suppression>
    /** Null: not asked, because nothing more is tried. */
    mx_hosts: Array<string> | null
    /** On whose word the connection to the first host must prove something; null where there is no host. */
    tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required' | null
    dns_problem: string | null
    /** Deliveries to that site at once. Null where no engine runs, or nothing more is tried. */
    slots: {
      limit: number
      under_way: number
    } | null
    /** The receiving site: all domains whose best MX hosts have the same registrable domain share it. */
    site: {
      name: string
      state: 'unknown' | 'proven' | 'troubled' | 'paused'
      /** At once, at present. */
      connections: number
      max_connections: number
      lowered_at: string | null
      /** The class of the reply after which the limit was lowered, such as `rate`; the text is not shown. */
      lowered_because: string | null
      paused_until: string | null
    } | null
  }>
}

export interface MessageOpenedEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.opened'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    opened_at: string
    user_agent: string | null
    ip_address: string | null
    /** A known machine did it, not a person. */
    machine: boolean
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface MessageUnsubscribedEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'message.unsubscribed'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    unsubscribed_at: string
    method: 'one_click' | 'link' | 'mailto'
    user_agent: string | null
    ip_address: string | null
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface PostAttempt {
  number: number
  at: string
  duration_ms: number
  status_code: number | null
  error: string | null
  response_excerpt: string | null
}

export interface Quality {
  domain_id: string
  domain: string
  /** Recipients whose fate became known within the window. */
  sent: number
  hard_bounced: number
  delivered: number
  complained: number
  /** 0 to 1; 0 of nothing. */
  bounce_rate: number
  /** 0 to 1; 0 of nothing. */
  complaint_rate: number
  thresholds: {
    bounce_rate: number
    complaint_rate: number
    min_sent: number
  }
  window_hours: number
  sending_stopped: boolean
  /** Those that fire, then those that ended in the last 30 days. */
  alerts: Array<QualityAlert>
}

export interface QualityAlert {
  alert_id: string
  metric: 'bounce_rate' | 'complaint_rate'
  value: number
  threshold: number
  window_hours: number
  sent: number
  affected: number
  state: 'firing' | 'resolved'
  triggered_at: string
  resolved_at: string | null
}

export interface QualityAlertEvent {
  /** The same at every attempt and replay: keep it, to do nothing twice. */
  id: string
  type: 'quality.alert'
  timestamp: string
  data: {
    alert_id: string
    domain_id: string
    domain: string
    metric: 'bounce_rate' | 'complaint_rate'
    value: number
    threshold: number
    window_hours: number
    sent: number
    affected: number
    state: 'firing' | 'resolved'
    triggered_at: string
    /** A sample, asked for by `POST …/test`. */
    test?: true
  }
}

export interface Recipient {
  email: string
  type: 'to' | 'cc' | 'bcc'
  status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
  attempts: number
  last_attempt_at: string | null
  next_attempt_at: string | null
  delivered_at: string | null
  /** The last reply of the recipient’s server. */
  smtp_response: string | null
  bounce_type: 'hard' | 'soft' | null
  /** Enhanced status code (RFC 3463), or the reply code. */
  bounce_code: string | null
  mx_host: string | null
  /** Version and cipher of the last attempt; null = in clear. */
  tls: string | null
  /** By people; what known machines opened is counted apart. */
  opens: number
  clicks: number
  machine_opens: number
  machine_clicks: number
}

export interface RenderedTemplate {
  subject: string | null
  html: string | null
  text: string | null
}

/** What came back later: a DSN, a complaint, an automatic answer. */
export interface Report {
  email: string
  /** `other` is an unclassified report. `diagnostic` has its subject and text. */
  kind:
    | 'failed'
    | 'delayed'
    | 'delivered'
    | 'relayed'
    | 'expanded'
    | 'complaint'
    | 'unsubscribe'
    | 'auto_reply'
    | 'other'
  received_at: string
  reporter: string | null
  status: string | null
  diagnostic: string | null
  bounce_class: string | null
  rule: string | null
  feedback_type: string | null
}

export interface RotatedApiKey {
  id: string
  name: string
  domain_id: string
  /** Its name; null when it was removed. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to tell keys apart. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** The key that replaces it. */
  rotated_to: string | null
  /** CIDR networks that it may be used from; it is 401 from elsewhere. null = from anywhere. */
  allowed_networks: Array<string> | null
  /** The key itself, shown this once. */
  key: string
  /** The old key, and when it ends. */
  previous: {
    id: string
    expires_at: string
  }
}

export interface SendMessage {
  /** `a@d` or `Name <a@d>`; the domain is that of the key. */
  from: string
  /** 1 to 50 recipients together with `cc` and `bcc`, each `a@d` or `Name <a@d>`; duplicates collapse. */
  to: string | Array<string>
  cc?: string | Array<string> | null
  /** Never shown in the mail. */
  bcc?: string | Array<string> | null
  reply_to?: string | Array<string> | null
  /** Required unless the template has one; at most 998 bytes, one line. */
  subject?: string | null
  /** `html`, `text` or `template_id` is needed; an empty one counts as missing. */
  html?: string | null
  /** Made from `html` when it is missing or empty. */
  text?: string | null
  /** A template by id or alias, in the place of `html` and `text`. */
  template_id?: string | null
  /** What the template is filled with. */
  variables?: Record<string, unknown> | null
  /** Extra headers; not those that the service writes, such as `From` or `Date`. */
  headers?: Record<string, string> | null
  /** The composed message has at most 25 MiB, unless configured otherwise. */
  attachments?: Array<{
    filename: string
    content: string
    /** By the name of the file if not told. */
    content_type?: string | null
    /** For `<img src="cid:…">`. */
    content_id?: string | null
  }> | null
  /** At most 50 keys and 4 KiB; returned in events. */
  metadata?: Record<string, string | number | boolean> | null
  /** Each at most 64 characters; statistics go by them. */
  tags?: Array<string> | null
  /** At most 30 days ahead; the past means now. */
  scheduled_at?: string | null
  /** Seconds after which it is not tried again. */
  expires_in?: number | null
  /** Deliver only over verified TLS. */
  require_tls?: boolean | null
  /** Null or absent, here and below: as the domain has it. */
  track_opens?: boolean | null
  /** Links in `html` lead by us, but for those with `data-no-track`. */
  track_clicks?: boolean | null
  /** Each recipient’s mail gets a `List-Unsubscribe` of its own, and its link for `%unsubscribe_url%`. */
  unsubscribe?: boolean | null
}

export interface Stats {
  data: Array<{
    period_start: string
    accepted: number
    delivered: number
    deferred: number
    bounced: number
    hard_bounced: number
    soft_bounced: number
    opened: number
    unique_opened: number
    clicked: number
    unique_clicked: number
    unsubscribed: number
    complained: number
    suppressed: number
  }>
  totals: {
    accepted: number
    delivered: number
    deferred: number
    bounced: number
    hard_bounced: number
    soft_bounced: number
    opened: number
    unique_opened: number
    clicked: number
    unique_clicked: number
    unsubscribed: number
    complained: number
    suppressed: number
    /** 0 to 1; 0 of nothing. */
    delivery_rate: number
    /** 0 to 1; 0 of nothing. */
    bounce_rate: number
    /** 0 to 1; 0 of nothing. */
    complaint_rate: number
    /** 0 to 1; 0 of nothing. */
    open_rate: number
    /** 0 to 1; 0 of nothing. */
    click_rate: number
  }
}

export interface Suppression {
  id: string
  email: string
  reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  /** Null = the whole organization. */
  domain_id: string | null
  /** The message that led to it. */
  message_id: string | null
  created_at: string
  /** What was said of it where it was imported from. */
  evidence: string | null
  /** `test`: made by a test key, holds for test messages only. Those of `live` hold for both. */
  mode: 'live' | 'test'
}

export interface SuppressionImport {
  added: number
  already_there: number
  /** Passing failures, and who stopped one kind of mail only. */
  passed_over: number
  bad: number
  dry_run: boolean
  errors: Array<{
    number: number
    message: string
  }>
  errors_left_out: number
}

export interface Template {
  id: string
  /** Another name for it. Live and test templates have their aliases apart. */
  alias: string | null
  name: string
  /** `test`: made by a test key, for test messages only. Test messages may use live ones too. */
  mode: 'live' | 'test'
  /** Null = each message brings its own. */
  subject: string | null
  html: string | null
  text: string | null
  /** Found in the texts, in the order of their first use. */
  variables: Array<string>
  /** Counts up when the texts change. */
  version: number
  created_at: string
  updated_at: string
}

export interface TemplatePreview {
  subject: string | null
  html: string | null
  text: string | null
  /** Found in the texts, in the order of their first use. */
  variables: Array<string>
  /** Not given and without a default: they stand as `[name]`. */
  missing: Array<string>
}

export interface Usage {
  organization_id: string
  plan: string
  /** -1 = unlimited. Null: the plan is no longer configured. */
  limits: {
    /** Of each key. */
    requests_per_minute: number
    /** Recipients accepted for live sending, and forwarded ones. */
    messages_per_month: number
    domains: number
    retention_days: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** Kept of each template; the oldest go. */
    template_versions: number
    /** That work; as many again may be in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    stored_bytes: number
    /** Recipients of test messages. */
    test_messages_per_month: number
    /** Recipients of forward routes. */
    forwards_per_day: number
    /** For those added by hand and by import; bounces and complaints always add theirs. */
    suppressions: number
  } | null
  usage: {
    /** UTC */
    month: string
    /** Recipients accepted for live sending, and forwarded ones. */
    messages: number
    /** Recipients of test messages. */
    test_messages: number
    domains: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** That work, without those in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    /** Messages count their size and 2 KiB, metadata and subject for each recipient; inbound mail twice its size and 2 KiB; templates and remembered answers their size. */
    stored_bytes: number
    suppressions: number
    /** When messages and test messages start again. */
    resets_at: string
    /** UTC */
    day: string
    /** Recipients of forward routes on that day. */
    forwards: number
    /** When forwards start again. */
    day_resets_at: string
  }
}

export interface Webhook {
  id: string
  url: string
  events: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  /** The shape of what is posted. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: made by a test key, gets events of test mail only. */
  mode: 'live' | 'test'
  /** It gets events of that domain only; null = of every domain. */
  domain_id: string | null
  description: string | null
  /** Why it was paused by itself. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  last_success_at: string | null
  last_failure_at: string | null
  consecutive_failures: number
}

export interface WebhookDelivery {
  id: string
  webhook_id: string
  event_id: string
  type:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  status: 'pending' | 'delivered' | 'failed'
  attempts: Array<PostAttempt>
  next_attempt_at: string | null
  created_at: string
}

export interface WebhookWithNewSecret {
  id: string
  url: string
  events: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  /** The shape of what is posted. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: made by a test key, gets events of test mail only. */
  mode: 'live' | 'test'
  /** It gets events of that domain only; null = of every domain. */
  domain_id: string | null
  description: string | null
  /** Why it was paused by itself. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  last_success_at: string | null
  last_failure_at: string | null
  consecutive_failures: number
  /** For checking signatures; shown this once. */
  secret: string
  previous_secret_expires_at: string
}

export interface WholeInboundMessage {
  id: string
  /** Null: mail for `postmaster` or `abuse` that no route takes. */
  route_id: string | null
  domain_id: string
  action: 'webhook' | 'forward' | 'store'
  status: 'pending' | 'delivered' | 'failed' | 'stored'
  /** Address of the From header; empty when there is none. */
  from: string
  /** The envelope recipients that the route matched. */
  to: Array<string>
  subject: string
  message_id: string
  return_path: string
  sender_ip: string
  helo: string
  tls: string | null
  size_bytes: number
  spf_result: 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror' | 'policy'
  dkim_result: 'none' | 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror'
  dmarc_result: 'none' | 'pass' | 'fail' | 'temperror' | 'permerror'
  arc_result: 'none' | 'pass' | 'fail'
  parse_error: string | null
  forwarded_as: string | null
  /** Forward targets that the mail was not sent on to, and why. */
  not_forwarded: Array<{
    email: string
    reason: 'pending_confirmation' | 'stopped' | 'domain_not_verified'
  }>
  created_at: string
  /** These four are null once retention has dropped the content. */
  text_body: string | null
  html_body: string | null
  headers: Record<string, string> | null
  attachments: Array<{
    filename: string
    content_type: string
    size: number
  }> | null
}

export interface MessagesBatchBody {
  messages: Array<SendMessage>
}

export interface MessagesBatchAnswer {
  data: Array<AcceptedMessage | ApiError>
}

export interface MessagesListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  status?: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  to?: string
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  from?: string
  subject?: string
  tag?: string
  template_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
  /** Words of subject and addresses. */
  q?: string
  /** `metadata[order]=1001`: messages whose metadata have this value. */
  metadata?: Record<string, string>
}

export interface MessagesUpdateBody {
  /** ISO 8601 with offset, or a date, which is its midnight UTC. */
  scheduled_at: string
}

export interface MessagesContentQuery {
  part?: 'html' | 'text' | 'raw'
}

export interface MessagesEventsQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  type?:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
}

export interface MessagesAttemptsAnswer {
  data: Array<Attempt>
  reports: Array<Report>
  has_more: false
  next_cursor: null
}

export interface MessagesWebhookDeliveriesAnswer {
  data: Array<WebhookDelivery>
  has_more: boolean
  next_cursor: null
}

export interface MessagesAnalyzeBody {
  /** `a@d` or `Name <a@d>`; the domain is that of the key. */
  from: string
  to?: string | Array<string> | null
  cc?: string | Array<string> | null
  /** Never shown in the mail. */
  bcc?: string | Array<string> | null
  reply_to?: string | Array<string> | null
  subject?: '' | string | null | null
  /** `html`, `text` or `template_id` is needed; an empty one counts as missing. */
  html?: string | null
  /** Made from `html` when it is missing or empty. */
  text?: string | null
  /** A template by id or alias, in the place of `html` and `text`. */
  template_id?: string | null
  /** What the template is filled with. */
  variables?: Record<string, unknown> | null
  /** Extra headers; not those that the service writes, such as `From` or `Date`. */
  headers?: Record<string, string> | null
  /** The composed message has at most 25 MiB, unless configured otherwise. */
  attachments?: Array<{
    filename: string
    content: string
    /** By the name of the file if not told. */
    content_type?: string | null
    /** For `<img src="cid:…">`. */
    content_id?: string | null
  }> | null
  /** At most 50 keys and 4 KiB; returned in events. */
  metadata?: Record<string, string | number | boolean> | null
  /** Each at most 64 characters; statistics go by them. */
  tags?: Array<string> | null
  /** At most 30 days ahead; the past means now. */
  scheduled_at?: string | null
  /** Seconds after which it is not tried again. */
  expires_in?: number | null
  /** Deliver only over verified TLS. */
  require_tls?: boolean | null
  /** Null or absent, here and below: as the domain has it. */
  track_opens?: boolean | null
  /** Links in `html` lead by us, but for those with `data-no-track`. */
  track_clicks?: boolean | null
  /** Each recipient’s mail gets a `List-Unsubscribe` of its own, and its link for `%unsubscribe_url%`. */
  unsubscribe?: boolean | null
}

export interface ApiKeysCreateBody {
  name: string
  /** The domain that it sends from. */
  domain_id: string
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** `test`: a sandbox key. A test key makes only such. */
  mode?: 'live' | 'test'
  /** When it ends by itself. A key that expires must give one, not later than its own. */
  expires_at?: string | null
  /** CIDR networks or single addresses, IPv4 and IPv6; the key is 401 from anywhere else. `::/0` covers IPv6 only. Absent or null: from anywhere. */
  allowed_networks?: Array<string> | null
}

export interface ApiKeysListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
}

export interface ApiKeysUpdateBody {
  name?: string
  /** CIDR networks or single addresses, IPv4 and IPv6; the key is 401 from anywhere else. `::/0` covers IPv6 only. Absent or null: from anywhere. */
  allowed_networks?: Array<string> | null
}

export interface ApiKeysRotateBody {
  /** How long the old one goes on working. */
  grace_period_minutes?: number
}

export interface DomainsCreateBody {
  /** A domain that can be registered, or a name below one. */
  name: string
  tracking?: {
    opens?: boolean
    clicks?: boolean
    unsubscribe?: boolean
    /** A host under the domain for links; null = that of this server. */
    host?: string | null
  }
  /** True where the operator adds a name of this server itself, to receive mail for its postmaster. */
  server_name?: boolean
}

export interface DomainsListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
}

export interface DomainsUpdateBody {
  tracking?: {
    opens?: boolean
    clicks?: boolean
    unsubscribe?: boolean
    /** A host under the domain for links; null = that of this server. */
    host?: string | null
  }
}

export interface AuditLogListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  /** One operation, such as `api_keys_create`. */
  action?: string
  /** One key, or `operator`. */
  actor_id?: string
  resource_id?: string
}

export interface BillingUpdateBody {
  plan: string
}

export interface EventsListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  /** Turns the list round: oldest first, everything after that event; empty = from the beginning. */
  after?: string
  type?:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  message_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
}

export interface EventsStreamQuery {
  /** Only these; several times, or once with commas. */
  types?: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  message_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
  /** Begin behind that event; empty = with the oldest that is kept. */
  after?: string
}

export interface ExplainAddressQuery {
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  to: string
}

export interface StatsReadQuery {
  /** ISO 8601 with offset, or a date, which is its midnight UTC. */
  from?: string
  /** ISO 8601 with offset, or a date, which is its midnight UTC. */
  to?: string
  interval?: 'hour' | 'day' | 'month'
  domain_id?: string
  tag?: string
  /** Absent: `live`, with a test key `test`. */
  mode?: 'live' | 'test'
}

export interface QualityListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
}

export interface SuppressionsListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  email?: string
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
}

export interface SuppressionsCreateBody {
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  email: string
  /** Absent or null: the whole organization. A key without `admin` suppresses for its own domain, where there are others. */
  domain_id?: string | null
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
}

export interface SuppressionsExportQuery {
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
}

export interface SuppressionsImportBody {
  /** The text of a CSV file, header first. */
  csv?: string
  /** Objects with the fields of the CSV, or as another service gives them. */
  suppressions?: Array<Record<string, unknown>>
  /** Whose export it is. Absent: told by its columns. */
  from?: 'resend' | 'postmark' | 'sendgrid' | 'mailgun'
  /** What it is a list of, for exports that do not say it. */
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'block'
  /** Only counts. */
  dry_run?: boolean
}

export interface TemplatesCreateBody {
  name: string
  alias?: string | null
  subject?: string | null
  html?: string | null
  text?: string | null
}

export interface TemplatesListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
}

export interface TemplatesGetQuery {
  version?: string
}

export interface TemplatesUpdateBody {
  name?: string
  alias?: string | null
  subject?: string | null
  html?: string | null
  text?: string | null
}

export interface TemplatesRenderBody {
  variables?: Record<string, unknown>
  version?: number
}

export interface TemplatesPreviewBody {
  subject?: string | null
  html?: string | null
  text?: string | null
  variables?: Record<string, unknown>
}

export interface TemplatesVersionsQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
}

export interface WebhooksCreateBody {
  /** `https`, at a public address. */
  url: string
  events: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  description?: string | null
  /** `resend`: the shape and headers that Resend posts, for receivers that were made for it. Absent: `enveloped`. */
  format?: 'enveloped' | 'resend'
}

export interface WebhooksListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
}

export interface WebhooksUpdateBody {
  /** `https`, at a public address. */
  url?: string
  events?: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
  >
  status?: 'active' | 'paused'
  description?: string | null
}

export interface WebhooksTestBody {
  type:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
}

export interface WebhooksRotateSecretBody {
  /** How long the old one goes on working. */
  grace_period_minutes?: number
}

export interface WebhookDeliveriesListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  status?: 'pending' | 'delivered' | 'failed'
  type?:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
}

export interface WebhooksReplayBody {
  /** ISO 8601 with offset, or a date, which is its midnight UTC. */
  from: string
  /** Exclusive; now unless given. */
  to?: string
  /** Only these. */
  type?:
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
}

export interface WebhooksReplayAnswer {
  queued: number
}

export interface InboundRoutesCreateBody {
  name: string
  match:
    | {
        type: 'address'
        value: string
      }
    | {
        type: 'pattern'
        value: string
      }
    | {
        type: 'domain'
        value: string
      }
    | {
        type: 'catch_all'
        value?: null
      }
  action:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments?: boolean
        }
      }
    | {
        type: 'forward'
        config: {
          to:
            | string
            | Array<
                | string
                | {
                    /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
                    email: string
                    [name: string]: unknown
                  }
              >
        }
      }
    | {
        type: 'store'
        config?: Record<string, never>
      }
  authentication?: 'none' | 'dmarc' | 'require_pass'
  enabled?: boolean
  priority?: number
}

export interface InboundRoutesListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
}

export interface InboundRoutesUpdateBody {
  name?: string
  match?:
    | {
        type: 'address'
        value: string
      }
    | {
        type: 'pattern'
        value: string
      }
    | {
        type: 'domain'
        value: string
      }
    | {
        type: 'catch_all'
        value?: null
      }
  action?:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments?: boolean
        }
      }
    | {
        type: 'forward'
        config: {
          to:
            | string
            | Array<
                | string
                | {
                    /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
                    email: string
                    [name: string]: unknown
                  }
              >
        }
      }
    | {
        type: 'store'
        config?: Record<string, never>
      }
  authentication?: 'none' | 'dmarc' | 'require_pass'
  enabled?: boolean
  priority?: number
}

export interface InboundRoutesConfirmationsBody {
  /** Absent: all pending targets. */
  email?: string
}

export interface InboundRoutesTestBody {
  /** Decides nothing yet. */
  from?: string | ''
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  to: string
  subject?: string
}

export interface InboundMessagesListQuery {
  limit?: number
  /** `next_cursor` of the page before. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: string
  /** Exclusive; ISO 8601. */
  created_before?: string
  route_id?: string
  domain_id?: string
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  from?: string
  /** An address without a name: `ann@example.com`. It may be internationalized (RFC 6531). */
  to?: string
  status?: 'pending' | 'delivered' | 'failed'
}

export interface InboundMessagesDeliveriesAnswer {
  data: Array<InboundDelivery>
  has_more: boolean
  /** Give it as `cursor` for the next page, whatever this one holds; null on the last one. */
  next_cursor: string | null
}
