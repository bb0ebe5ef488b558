// Generated from the OpenAPI document by scripts/client-types.ts.

export interface AcceptedMessage {
  id: string
  /** Same as `id`. */
  message_id: string
  /** `partial`: every recipient is final, with different results. `queued`, `scheduled` and `deferred` are not final. */
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
  /** Explanation in sentences, most important first. */
  explanation: Array<string>
  /** Why the key’s domain cannot send live mail now, to any recipient. */
  refused_with: 'domain_not_verified' | 'invalid_state' | 'quota_exceeded' | null
  suppressions: Array<Suppression>
  /** Null: not looked up, because no further attempt follows. */
  mx_hosts: Array<string> | null
  /** What requires TLS verification for the first MX host; null if there is no host. */
  tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required' | null
  dns_problem: string | null
  /** Concurrent deliveries to this destination. Null if no delivery engine runs or no further attempt follows. */
  slots: {
    limit: number
    under_way: number
  } | null
  /** The destination: all domains whose best MX hosts share a registrable domain count as one. */
  site: {
    name: string
    state: 'unknown' | 'proven' | 'troubled' | 'paused'
    /** Current limit of concurrent connections. */
    connections: number
    max_connections: number
    lowered_at: string | null
    /** Class of the reply that lowered the limit, for example `rate`. The reply text is not shown. */
    lowered_because: string | null
    paused_until: string | null
    /** IP addresses that the mail may be sent from. One that the destination blocks rests there, and others go first. Empty: the system chooses. */
    sending_addresses: Array<{
      address: string
      resting_until: string | null
      /** Rule of the reply that blocked the address. */
      resting_because: string | null
      /** Warm-up of the address at this destination, while it lasts. */
      warmup?: {
        group: 'google' | 'microsoft' | 'yahoo' | 'apple' | 'others'
        state: 'on_plan' | 'held' | 'stepped_back' | 'finished'
        /** Day of the plan; 0 before the first. */
        day: number
        /** Messages that today allows. */
        allowance: number | null
        /** When more mail may go from the address; null: now. */
        waits_until: string | null
      }
    }>
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
    /** Meaning of the status codes in the reply. */
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
      | 'unsubscribe_link_dead'
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
    /** What is wrong and how to fix it. */
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
    /** Share of the image and text area taken by images, 0 to 1. */
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
  /** Domain name; null if the domain was deleted. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to identify the key. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** ID of the key that replaces this one. */
  rotated_to: string | null
  /** CIDR networks the key may be used from; requests from other addresses get 401. null = any address. */
  allowed_networks: Array<string> | null
  /** ID of the user who created or rotated the key in the dashboard; null otherwise. */
  created_by: string | null
}

export interface Attachment {
  filename: string
  content: string
  /** Derived from the file name if absent. */
  content_type?: string | null
  /** For `<img src="cid:…">`. Brackets and `cid:` in front are ignored. */
  content_id?: string | null
  url?: null
}

export interface Attempt {
  recipient: string
  number: number
  started_at: string
  duration_ms: number
  /** `unknown`: the connection was lost after the end of the message data. Postrider retries with the same Message-ID. */
  outcome: 'delivered' | 'deferred' | 'bounced' | 'unknown'
  mx_host: string | null
  mx_ip: string | null
  source_ip: string | null
  /** The relay that the attempt went through; null: the hosts of the recipient’s domain. */
  relay: {
    name: string
    /** Number of the relay rule, from 1; null: none, as for the smarthost. */
    rule: number | null
    /** `rule`, or why the relay took over from direct delivery. */
    because: 'rule' | 'address_blocked' | 'port_25_blocked' | 'direct_failing' | 'warmup_used_up' | 'same_route'
  } | null
  tls_version: string | null
  tls_cipher: string | null
  tls_verified: boolean
  /** What required TLS verification: nothing, the domain’s MTA-STS policy (testing or enforced), its TLSA records (DANE), or `require_tls`. */
  tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required'
  smtp_response: string | null
  enhanced_code: string | null
  cause: {
    class: string
    rule: string
  } | null
  /** The SMTP conversation with timings in milliseconds. It omits message data and credentials. */
  transcript: string
}

export interface AuditEntry {
  id: string
  created_at: string
  actor: {
    type: 'api_key' | 'user' | 'operator' | 'server'
    /** ID of the API key or the user; `operator` for a command on the server. */
    id: string
    /** Name of the key at that time, email address of the user, or local user name of the command. */
    name: string
  }
  /** The `operationId` of the operation. */
  action: string
  /** The record that was changed or created. */
  resource_id: string | null
  /** The resulting record if it is a different one, for example the new key of a rotation. */
  created_id: string | null
  /** Names of the fields in the request, never their values. */
  fields: Array<string>
  /** IP address of the client; null for the command line. */
  ip_address: string | null
  /** `done`, `repeated` (an Idempotency-Key returned the original response), or the error code. */
  outcome: string
  request_id: string
}

export interface Billing {
  organization_id: string
  plan: string
  /** -1 = unlimited. Null: the plan is no longer in the config. */
  limits: Limits | null
  usage: {
    /** UTC */
    month: string
    /** Recipients accepted for live sending, including forwards. */
    messages: number
    /** Recipients of test messages. */
    test_messages: number
    domains: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** Active keys, without those in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    /** A message counts its size plus 2 KiB, metadata and subject per recipient. Inbound mail counts twice its size plus 2 KiB. Templates and stored idempotent responses count their size. */
    stored_bytes: number
    suppressions: number
    /** When the counts of messages and test messages reset. */
    resets_at: string
    /** UTC */
    day: string
    /** Recipients of forward routes on that day. */
    forwards: number
    /** When the count of forwards resets. */
    day_resets_at: string
  }
  /** IP addresses that only this organization sends from. Empty: shared ones. */
  dedicated_addresses: Array<string>
  /** Newest first. */
  past_months: Array<{
    /** UTC */
    month: string
    messages: number
  }>
  /** Plans you can change to. */
  self_service_plans: Array<{
    plan: string
    /** -1 = unlimited. Null: the plan is no longer in the config. */
    limits: Limits | null
  }>
}

export interface Calendar {
  /** iCalendar text (RFC 5545). */
  content: string
  /** By default the METHOD of `content`, which must be the same. */
  method?: 'PUBLISH' | 'REQUEST' | 'REPLY' | 'ADD' | 'CANCEL' | 'REFRESH' | 'COUNTER' | 'DECLINECOUNTER' | null
}

export interface CreatedApiKey {
  id: string
  name: string
  domain_id: string
  /** Domain name; null if the domain was deleted. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to identify the key. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** ID of the key that replaces this one. */
  rotated_to: string | null
  /** CIDR networks the key may be used from; requests from other addresses get 401. null = any address. */
  allowed_networks: Array<string> | null
  /** ID of the user who created or rotated the key in the dashboard; null otherwise. */
  created_by: string | null
  /** The key value. Shown only once. */
  key: string
}

export interface CreatedInboundRoute {
  id: string
  name: string
  match: {
    type: 'address' | 'domain' | 'pattern' | 'catch_all'
    value: string | null
  }
  /** Domain the route applies to; null = every domain, for a catch-all created with an `admin` key. */
  domain: string | null
  action:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments: boolean
          /** Names of the additional headers; the values are never shown. */
          header_names: Array<string>
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
  /** Signing secret for verifying signatures. Shown only once. */
  secret: string
}

export interface CreatedInvitation {
  id: string
  email: string
  role: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
  /** ID of a user or an API key, or `operator`. */
  invited_by: string
  created_at: string
  expires_at: string
  /** Shown only once, for the person you invite. Null: you may not see it. */
  url: string | null
  /** True if the server sends the link by mail. */
  mail_queued: boolean
  /** Why no mail is sent, so that you, or an operator, passes on the link; null if it is sent. */
  mail_reason:
    | 'not_configured'
    | 'single_sign_on_only'
    | 'domain_not_verified'
    | 'sending_paused'
    | 'no_address'
    | 'received_here'
    | 'suppressed'
    | 'limit_reached'
    | null
}

export interface CreatedWebhook {
  id: string
  url: string
  events: Array<EventType>
  /** Payload format. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: created by a test key, receives events of test messages only. */
  mode: 'live' | 'test'
  /** Receives events of this domain only; null = all domains. */
  domain_id: string | null
  description: string | null
  /** Names of the additional headers; the values are never shown. */
  header_names: Array<string>
  /** Why the webhook was paused automatically. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  last_success_at: string | null
  last_failure_at: string | null
  consecutive_failures: number
  /** Signing secret for verifying signatures. Shown only once. */
  secret: string
}

export interface Deletion {
  id: string
  deleted: true
}

export interface DmarcSources {
  data: Array<{
    source_ip: string
    /** Confirmed name of the address. */
    ptr: string | null
    /** The mail service with that name. */
    provider: string | null
    messages: number
    /** Messages whose SPF passed for the domain. */
    spf_aligned: number
    /** Messages with a valid DKIM signature of the domain. */
    dkim_aligned: number
    /** What receivers did with the messages. */
    disposition: {
      none: number
      quarantine: number
      reject: number
    }
    /** Domains that authenticated the reports, at most 20. */
    reporters: Array<string>
    /** Start of the first report period. */
    first_seen: string
    /** End of the last report period. */
    last_seen: string
    kind: 'ours' | 'known' | 'unknown'
  }>
  totals: {
    messages: number
    /** Messages whose SPF passed for the domain. */
    spf_aligned: number
    /** Messages with a valid DKIM signature of the domain. */
    dkim_aligned: number
    /** What receivers did with the messages. */
    disposition: {
      none: number
      quarantine: number
      reject: number
    }
    /** Messages that passed DMARC by SPF or DKIM. */
    passed: number
    /** Messages as the reports claim. Of each reporter and day only 10,000 count, of large receivers 10,000,000. */
    claimed: number
    reports: number
    sources: number
    reporters: number
    /** Days with messages. */
    days: number
  }
  /** Unknown domains that sent reports, at most 20, with the messages that they claim. They count in neither `data`, `totals` nor `advice`. */
  unknown_reporters: Array<{
    reporter: string
    reports: number
    messages: number
  }>
  advice: {
    policy: 'none' | 'quarantine' | 'reject'
    text: string
  }
}

export interface DnsHost {
  name: string | null
  /** The page of the provider where records are edited. */
  console_url: string | null
  /** What its forms expect. */
  advice: string | null
}

export interface Domain {
  id: string
  /** Lower case; internationalized names as A-labels (`xn--`). */
  name: string
  status: 'pending' | 'verified' | 'failed'
  /** Explains the status, for example a missing ownership record or a claim by another organization. */
  detail: string | null
  /** The DNS record that proves ownership. With `txt` the domain receives mail but does not send live mail. */
  proved_by: 'dkim' | 'txt' | null
  /** When a check first found no proof of ownership for the verified domain in DNS. After seven days the domain fails. */
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
  /** When the server makes new DKIM keys by itself. Null while new keys wait for DNS, and for domains whose selectors are not CNAME records to the server’s zone. */
  next_dkim_rotation_at: string | null
  return_path_host: string
  tracking: {
    opens: boolean
    clicks: boolean
    unsubscribe: boolean
    /** Host for tracked links, under the domain; null = the server’s own host. */
    host: string | null
  }
  /** DNS records to publish. */
  dns_records: Array<{
    purpose:
      | 'dkim'
      | 'dkim_standby'
      | 'ownership'
      | 'spf'
      | 'dmarc'
      | 'return_path'
      | 'mx'
      | 'tls_rpt'
      | 'tracking'
      | 'mta_sts'
      | 'mta_sts_host'
    type: 'TXT' | 'MX' | 'CNAME'
    name: string
    value: string
    priority: number | null
    required: boolean
    status: 'pending' | 'valid' | 'missing' | 'mismatch'
    /** Value found at the last DNS check. */
    found: Array<string>
  }>
}

export interface DomainFailedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'domain.failed'
  timestamp: string
  data: {
    domain_id: string
    domain: string
    failed_at: string
    reason: 'mismatch' | 'proof_lost' | 'claimed'
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface DomainVerifiedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'domain.verified'
  timestamp: string
  data: {
    domain_id: string
    domain: string
    verified_at: string
    proved_by: 'dkim' | 'txt'
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

/** An address without a display name: `ann@example.com`. Internationalized addresses are accepted (RFC 6531). */
export type EmailAddress = string

export type EndpointHeaders = Record<string, string> | null

export interface Erasure {
  id: string
  /** It runs until attempts in progress and shared messages to other recipients have ended. */
  status: 'running' | 'done'
  /** Keyed hash of the address. When the erasure ends, Postrider deletes the address itself. */
  address_hash: string
  created_at: string
  finished_at: string | null
  removed: {
    /** Messages to nobody else. */
    messages: number
    /** Messages with other recipients, which lost the address and their content. */
    shared_messages: number
    events: number
    inbound_messages: number
    /** Stored responses of requests with an idempotency key. */
    responses: number
    /** Suppressions that now keep the hash only. */
    suppressions: number
  }
  /** Records of your organization that still name the address when the erasure ends. Change them yourself. */
  remaining: Array<{
    type: 'user' | 'invitation' | 'inbound_route' | 'forward_target'
    /** Null for a forward target, which has no ID. */
    id: string | null
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
      | 'request_timeout'
      | 'conflict'
      | 'payload_too_large'
      | 'domain_not_verified'
      | 'template_error'
      | 'quota_exceeded'
      | 'invalid_state'
      | 'rate_limited'
      | 'internal_error'
      | 'unavailable'
    /** Human-readable. The wording may change. */
    message: string
    /** The first invalid field, for example `attachments[0].content`. */
    field?: string
    /** Always contains the request ID. */
    details: {
      request_id: string
      [name: string]: unknown
    }
    /** For `validation_error`: every invalid field. */
    errors?: Array<{
      field: string
      message: string
    }>
    /** For `rate_limited`: seconds to wait, same as `Retry-After`. */
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
  | MessageSuppressedEvent
  | MessageAcceptedEvent
  | MessageCancelledEvent
  | MessageExpiredEvent
  | InboundReceivedEvent
  | DomainVerifiedEvent
  | DomainFailedEvent
  | WebhookPausedEvent
  | SuppressionAddedEvent
  | SuppressionRemovedEvent

export type EventType =
  | 'message.delivered'
  | 'message.bounced'
  | 'message.deferred'
  | 'message.opened'
  | 'message.clicked'
  | 'message.unsubscribed'
  | 'message.complained'
  | 'quality.alert'
  | 'message.suppressed'
  | 'message.accepted'
  | 'message.cancelled'
  | 'message.expired'
  | 'inbound.received'
  | 'domain.verified'
  | 'domain.failed'
  | 'webhook.paused'
  | 'suppression.added'
  | 'suppression.removed'

export interface ForwardConfirmations {
  data: Array<{
    email: string
    status: 'pending' | 'confirmed'
    /** A confirmation email is on its way. */
    sent: boolean
    /** Why no confirmation was sent to a pending target: daily limit reached, stopped by its owner, suppressed, or its mail is received by this server. */
    reason: 'too_many' | 'stopped' | 'suppressed' | 'received_here' | null
    /** For `received_here`, if the operator asks: the link that confirms. Only the target may use it. */
    url: string | null
  }>
}

export interface ForwardTarget {
  email: string
  /** Pending targets receive no mail until they confirm. */
  status: 'pending' | 'confirmed'
  /** The owner stopped the forwarding. No further confirmation request is sent. */
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
  /** Null for mail to `postmaster` or `abuse` that matches no route. */
  route_id: string | null
  domain_id: string
  action: 'webhook' | 'forward' | 'store'
  status: 'pending' | 'delivered' | 'failed' | 'stored'
  /** Address in the From header; empty if there is none. */
  from: string
  /** Envelope recipients that the route matched. */
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
  /** Forward targets that did not get the message, with the reason. */
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
  /** Header names in lower case. Repeated headers are joined with line breaks. */
  headers: Record<string, string>
  attachments: Array<{
    filename: string
    content_type: string
    size: number
  }>
  /** With `include_attachments`: base64 content, in the order of `attachments`. */
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

export interface InboundReceivedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'inbound.received'
  timestamp: string
  data: {
    inbound_message_id: string
    /** Null for mail to the domain’s postmaster or abuse address. */
    route_id: string | null
    domain_id: string
    /** Address in the header; empty if absent. */
    from: string
    /** Envelope recipients that the route matched. */
    to: Array<string>
    subject: string
    /** The `Message-ID` header; empty if absent. */
    message_id_header: string
    size_bytes: number
    received_at: string
    spf_result: string
    dkim_result: string
    dmarc_result: string
    /** The first 50, without their content. */
    attachments: Array<{
      filename: string
      content_type: string
      size: number
      /** Absent in events of earlier versions. */
      content_id?: string | null
    }>
    attachment_count: number
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface InboundRoute {
  id: string
  name: string
  match: {
    type: 'address' | 'domain' | 'pattern' | 'catch_all'
    value: string | null
  }
  /** Domain the route applies to; null = every domain, for a catch-all created with an `admin` key. */
  domain: string | null
  action:
    | {
        type: 'webhook'
        config: {
          url: string
          include_attachments: boolean
          /** Names of the additional headers; the values are never shown. */
          header_names: Array<string>
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
  /** Null = no route matches and the mail would be rejected. */
  taken_by: InboundRoute | null
  /** True if this is the route in the path. */
  takes: boolean
  by: 'address' | 'domain' | 'pattern' | 'catch_all' | null
  /** True if the route matches `a@d` and the address was `a+tag@d`. */
  via_bare_address: boolean
  reason: string
  considered: Array<{
    id: string
    name: string
    matches: boolean
    reason: string
  }>
}

export interface Invitation {
  id: string
  email: string
  role: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
  /** ID of a user or an API key, or `operator`. */
  invited_by: string
  created_at: string
  expires_at: string
}

export interface Limits {
  /** Per API key. */
  requests_per_minute: number
  /** Recipients accepted for live sending, including forwards. */
  messages_per_month: number
  domains: number
  retention_days: number
  webhooks: number
  inbound_routes: number
  templates: number
  /** Versions kept per template. The oldest are removed first. */
  template_versions: number
  /** Active keys. As many again may be in the grace period of a rotation. */
  api_keys: number
  scheduled_messages: number
  stored_bytes: number
  /** Recipients of test messages. */
  test_messages_per_month: number
  /** Recipients of forward routes. */
  forwards_per_day: number
  /** Suppressions added manually or by import. Bounces and complaints are always added. */
  suppressions: number
  /** Whether the organization gets a sending address of its own. */
  dedicated_address: boolean
}

export interface ListedTemplate {
  id: string
  /** Alternative to the ID. Live and test templates have separate aliases. */
  alias: string | null
  name: string
  /** `test`: created by a test key, for test messages only. Test messages can also use live templates. */
  mode: 'live' | 'test'
  /** Messages use templates of kind `message`; these use layouts and partials. */
  kind: 'message' | 'layout' | 'partial'
  /** Null = each message provides its own subject. */
  subject: string | null
  /** Variables found in the template, in order of first use. */
  variables: Array<string>
  /** Increases by one when the content changes. */
  version: number
  created_at: string
  updated_at: string
}

export interface ListedTemplateVersion {
  /** Increases by one when the content changes. */
  version: number
  /** Null = each message provides its own subject. */
  subject: string | null
  /** Variables found in the template, in order of first use. */
  variables: Array<string>
  created_at: string
}

export type Mailbox = string

export interface Message {
  id: string
  mode: 'live' | 'test'
  /** `partial`: every recipient is final, with different results. `queued`, `scheduled` and `deferred` are not final. */
  status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  from: string
  /** The `To` addresses as submitted, with display names. */
  to: string | Array<string> | null
  cc: string | Array<string> | null
  bcc: string | Array<string> | null
  reply_to: string | Array<string> | null
  subject: string
  tags: Array<string>
  metadata: Record<string, string | number | boolean>
  template_id: string | null
  domain_id: string
  /** The submitted content: subject, html, text and attachments as base64. For SMTP submissions, the whole message. */
  size_bytes: number
  message_id_header: string
  created_at: string
  scheduled_at: string | null
  source: 'api' | 'smtp'
  /** Message stream. */
  stream: string
  recipients: Array<Recipient>
}

export interface MessageAcceptedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'message.accepted'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    /** Message stream, unless it is `transactional`. */
    stream?: string
    accepted_at: string
    scheduled_at: string | null
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageBouncedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    bounce_type: 'hard' | 'soft'
    bounce_code: string
    bounce_message: string
    bounced_at: string
    will_retry: boolean
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageCancelledEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'message.cancelled'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    /** Message stream, unless it is `transactional`. */
    stream?: string
    cancelled_at: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageClickedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    clicked_at: string
    url: string
    user_agent: string | null
    ip_address: string | null
    /** True if a known machine, not a person, caused the event. */
    machine: boolean
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageComplainedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    complained_at: string
    feedback_type: string | null
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageContent {
  id: string
  /** Postrider adds a `List-Unsubscribe` header for each recipient, as the message or its domain asks for. */
  unsubscribe: boolean
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
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    deferred_at: string
    attempt: number
    next_attempt_at: string | null
    smtp_response: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageDeliveredEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    delivered_at: string
    smtp_response: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageExpiredEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'message.expired'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    /** Message stream, unless it is `transactional`. */
    stream?: string
    /** Time of the last attempt, or end of `expires_in`. `message.bounced` is sent too. */
    expired_at: string
    /** True for a sample event from `POST …/test`. */
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
    /** Explanation in sentences, most important first. */
    explanation: Array<string>
    status: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
    attempts: number
    last_attempt_at: string | null
    next_attempt_at: string | null
    smtp_response: string | null
    /** Meaning of the status codes in the reply. */
    meaning: string | null
    bounce_class: string | null
    rule: string | null
    suppressions: Array<Suppression>
    /** Null: not looked up, because no further attempt follows. */
    mx_hosts: Array<string> | null
    /** What requires TLS verification for the first MX host; null if there is no host. */
    tls_policy: 'none' | 'mta_sts_testing' | 'mta_sts' | 'dane' | 'required' | null
    dns_problem: string | null
    /** Concurrent deliveries to this destination. Null if no delivery engine runs or no further attempt follows. */
    slots: {
      limit: number
      under_way: number
    } | null
    /** The destination: all domains whose best MX hosts share a registrable domain count as one. */
    site: {
      name: string
      state: 'unknown' | 'proven' | 'troubled' | 'paused'
      /** Current limit of concurrent connections. */
      connections: number
      max_connections: number
      lowered_at: string | null
      /** Class of the reply that lowered the limit, for example `rate`. The reply text is not shown. */
      lowered_because: string | null
      paused_until: string | null
      /** IP addresses that the mail may be sent from. One that the destination blocks rests there, and others go first. Empty: the system chooses. */
      sending_addresses: Array<{
        address: string
        resting_until: string | null
        /** Rule of the reply that blocked the address. */
        resting_because: string | null
        /** Warm-up of the address at this destination, while it lasts. */
        warmup?: {
          group: 'google' | 'microsoft' | 'yahoo' | 'apple' | 'others'
          state: 'on_plan' | 'held' | 'stepped_back' | 'finished'
          /** Day of the plan; 0 before the first. */
          day: number
          /** Messages that today allows. */
          allowance: number | null
          /** When more mail may go from the address; null: now. */
          waits_until: string | null
        }
      }>
    } | null
  }>
}

export type MessageHeaders = Record<string, string>

export interface MessageOpenedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    opened_at: string
    user_agent: string | null
    ip_address: string | null
    /** True if a known machine, not a person, caused the event. */
    machine: boolean
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageSuppressedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'message.suppressed'
  timestamp: string
  data: {
    message_id: string
    from: string
    to: string
    subject: string
    metadata: Record<string, string | number | boolean>
    tags: Array<string>
    mode: 'live' | 'test'
    /** Message stream, unless it is `transactional`. */
    stream?: string
    suppressed_at: string
    reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
    /** Stream of the suppression; null = every stream. */
    suppression_stream: string | null
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface MessageUnsubscribedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** Message stream, unless it is `transactional`. */
    stream?: string
    unsubscribed_at: string
    method: 'one_click' | 'link' | 'mailto'
    user_agent: string | null
    ip_address: string | null
    /** True for a sample event from `POST …/test`. */
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
  /** Recipients whose outcome became final within the window. */
  sent: number
  hard_bounced: number
  delivered: number
  complained: number
  /** 0 to 1; 0 if there is nothing to count. */
  bounce_rate: number
  /** 0 to 1; 0 if there is nothing to count. */
  complaint_rate: number
  thresholds: {
    bounce_rate: number
    complaint_rate: number
    min_sent: number
  }
  window_hours: number
  sending_stopped: boolean
  /** Active alerts first, then those resolved in the last 30 days. */
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
  /** Identical on every attempt and replay. Use it to process each event once. */
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
    /** True for a sample event from `POST …/test`. */
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
  /** Last reply from the recipient’s server. */
  smtp_response: string | null
  bounce_type: 'hard' | 'soft' | null
  /** Enhanced status code (RFC 3463), or the SMTP reply code. */
  bounce_code: string | null
  mx_host: string | null
  /** TLS version and cipher of the last attempt; null = unencrypted. */
  tls: string | null
  /** Opens by people. Opens by known machines are counted separately. */
  opens: number
  clicks: number
  machine_opens: number
  machine_clicks: number
}

export interface RemoteAttachment {
  /** Postrider downloads the file before it responds. The URL itself is not stored. */
  url: string
  /** The last segment of the URL’s path if absent. */
  filename?: string | null
  content?: null
  /** Taken from the response of the URL if absent, or derived from the file name. */
  content_type?: string | null
  /** For `<img src="cid:…">`. Brackets and `cid:` in front are ignored. */
  content_id?: string | null
}

export interface RenderedTemplate {
  subject: string | null
  html: string | null
  text: string | null
}

/** Reports received after delivery: a DSN, a complaint or an automatic reply. */
export interface Report {
  email: string
  /** `other` is an unclassified report; `diagnostic` holds its subject and text. */
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
  /** Domain name; null if the domain was deleted. */
  domain: string | null
  mode: 'live' | 'test'
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** The first 16 characters, to identify the key. */
  prefix: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  /** ID of the key that replaces this one. */
  rotated_to: string | null
  /** CIDR networks the key may be used from; requests from other addresses get 401. null = any address. */
  allowed_networks: Array<string> | null
  /** ID of the user who created or rotated the key in the dashboard; null otherwise. */
  created_by: string | null
  /** The key value. Shown only once. */
  key: string
  /** The old key and its expiry time. */
  previous: {
    id: string
    expires_at: string
  }
}

export interface SendMessage {
  /** `a@d` or `Name <a@d>`; must be at the key’s domain. */
  from: Mailbox
  /** 1 to 50 recipients together with `cc` and `bcc`, each `a@d` or `Name <a@d>`. Duplicates are merged. */
  to: Mailbox | Array<Mailbox>
  cc?: Mailbox | Array<Mailbox> | null
  /** Not visible to other recipients. */
  bcc?: Mailbox | Array<Mailbox> | null
  reply_to?: Mailbox | Array<Mailbox> | null
  /** Required unless the template has a subject. One line, at most 998 bytes. */
  subject?: string | null
  /** One of `html`, `text` or `template_id` is required. An empty value counts as missing. */
  html?: string | null
  /** Generated from `html` if missing or empty. */
  text?: string | null
  /** ID or alias of a template to use instead of `html` and `text`. */
  template_id?: string | null
  /** Values for the template’s variables. */
  variables?: Record<string, unknown> | null
  /** Language of the template, for example `pt-BR`. Without it: `pt`, then the template’s default. */
  locale?: string | null
  /** Additional headers. Headers that Postrider sets, such as `From` or `Date`, are rejected. `List-Unsubscribe` requires `unsubscribe: false`. */
  headers?: MessageHeaders | null
  /** The composed message can be at most 25 MiB, unless configured otherwise. */
  attachments?: Array<Attachment | RemoteAttachment> | null
  /** An invitation, which mail programs show with buttons: one text/calendar part beside text and HTML. */
  calendar?: Calendar | null
  /** At most 50 keys and 4 KiB. Included in events. */
  metadata?: Record<string, string | number | boolean> | null
  /** At most 64 characters each. Statistics can be filtered by tag. */
  tags?: Array<string> | null
  /** At most 30 days ahead. A time in the past sends immediately. */
  scheduled_at?: Time | null
  /** Seconds after which Postrider stops trying to deliver. */
  expires_in?: number | null
  /** Message stream: `transactional` (default), `bulk`, or another one of the server’s configuration. */
  stream?: string | null
  /** Deliver only over verified TLS. */
  require_tls?: boolean | null
  /** Tracks opens with an image of one pixel. Null or absent: use the domain’s setting. */
  track_opens?: boolean | null
  /** Rewrites links in `html` for click tracking, except those with `data-no-track` or the mark of another service. Null or absent: use the domain’s setting. */
  track_clicks?: boolean | null
  /** Adds a `List-Unsubscribe` header for each recipient and replaces `%unsubscribe_url%` with the recipient’s link. Where it is off, content with the placeholder is refused. Null or absent: use the setting of the stream or the domain. */
  unsubscribe?: boolean | null
}

export interface Session {
  id: string
  user_id: string
  created_at: string
  /** Accurate to one minute. */
  last_seen_at: string
  /** Sessions expire after seven days without use, and after 30 days at the latest. */
  ends_at: string
  /** IP address of the sign-in. */
  ip_address: string | null
  user_agent: string
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
    /** 0 to 1; 0 if there is nothing to count. */
    delivery_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    bounce_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    complaint_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    open_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    click_rate: number
  }
  /** Only with `group_by`: at most 100 groups, those with most accepted recipients first. Mail with several tags counts in each. */
  groups?: Array<{
    /** Value of the filter `domain_id`, `tag` or `stream` for this group. */
    key: string
    /** Null for a domain that was removed. */
    name: string | null
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
    /** 0 to 1; 0 if there is nothing to count. */
    delivery_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    bounce_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    complaint_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    open_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    click_rate: number
  }>
  /** Only with `group_by`: sum of the groups beyond 100; null without any. */
  other?: {
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
    /** 0 to 1; 0 if there is nothing to count. */
    delivery_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    bounce_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    complaint_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    open_rate: number
    /** 0 to 1; 0 if there is nothing to count. */
    click_rate: number
  } | null
}

export interface Suppression {
  id: string
  email: string
  reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  /** Null = the whole organization. */
  domain_id: string | null
  /** Null = every stream. With the reason `complaint`, it also applies to every other stream except `transactional`. */
  stream: string | null
  /** The message that caused the suppression. */
  message_id: string | null
  created_at: string
  /** Details from the imported list. */
  evidence: string | null
  /** `test`: created by a test key, applies to test messages only. `live` suppressions apply to both. */
  mode: 'live' | 'test'
}

export interface SuppressionAddedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'suppression.added'
  timestamp: string
  data: {
    suppression_id: string
    email: string
    reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
    /** Null = the whole organization. */
    domain_id: string | null
    /** Null = every stream. */
    stream: string | null
    message_id: string | null
    mode: 'live' | 'test'
    added_at: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface SuppressionImport {
  added: number
  already_there: number
  /** Temporary failures, and people who unsubscribed from one kind of mail only. */
  passed_over: number
  bad: number
  dry_run: boolean
  errors: Array<{
    number: number
    message: string
  }>
  errors_left_out: number
}

export interface SuppressionRemovedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'suppression.removed'
  timestamp: string
  data: {
    suppression_id: string
    email: string
    reason: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
    /** Null = the whole organization. */
    domain_id: string | null
    /** Null = every stream. */
    stream: string | null
    message_id: string | null
    mode: 'live' | 'test'
    removed_at: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface Template {
  id: string
  /** Alternative to the ID. Live and test templates have separate aliases. */
  alias: string | null
  name: string
  /** `test`: created by a test key, for test messages only. Test messages can also use live templates. */
  mode: 'live' | 'test'
  /** Messages use templates of kind `message`; these use layouts and partials. */
  kind: 'message' | 'layout' | 'partial'
  /** Null = each message provides its own subject. */
  subject: string | null
  html: string | null
  /** MJML that `html` was compiled from; null if there is none. */
  mjml: string | null
  text: string | null
  /** Alias of the layout around `html` and `text`. */
  layout: string | null
  /** Texts in other languages, by locale such as `de` or `pt-BR`. */
  locales: Record<
    string,
    {
      subject: string | null
      html: string | null
      mjml: string | null
      text: string | null
      /** Variables found in the template, in order of first use. */
      variables: Array<string>
    }
  >
  /** Variables found in the template, in order of first use. */
  variables: Array<string>
  /** Values of variables for previews. */
  sample: Record<string, unknown>
  /** Increases by one when the content changes. */
  version: number
  created_at: string
  updated_at: string
}

export interface TemplatePreview {
  subject: string | null
  html: string | null
  text: string | null
  /** Variables found in the template, in order of first use. */
  variables: Array<string>
  /** Variables without a value or a default. They are rendered as `[name]`. */
  missing: Array<string>
}

/** ISO 8601 with offset, or a date, meaning midnight UTC. */
export type Time = string

export interface TlsResults {
  data: Array<{
    /** `sts`, `tlsa`, `no-policy-found`, or another word of the reporter. */
    policy: string
    /** `success`, or the failure as in RFC 8460 §4.3. */
    result: string
    mx_host: string | null
    sessions: number
    /** Domains that authenticated the reports, at most 20. */
    reporters: Array<string>
    /** Start of the first report period. */
    first_seen: string
    /** End of the last report period. */
    last_seen: string
  }>
  totals: {
    reports: number
    successful: number
    failed: number
  }
}

export interface Usage {
  organization_id: string
  plan: string
  /** -1 = unlimited. Null: the plan is no longer in the config. */
  limits: Limits | null
  usage: {
    /** UTC */
    month: string
    /** Recipients accepted for live sending, including forwards. */
    messages: number
    /** Recipients of test messages. */
    test_messages: number
    domains: number
    webhooks: number
    inbound_routes: number
    templates: number
    /** Active keys, without those in the grace period of a rotation. */
    api_keys: number
    scheduled_messages: number
    /** A message counts its size plus 2 KiB, metadata and subject per recipient. Inbound mail counts twice its size plus 2 KiB. Templates and stored idempotent responses count their size. */
    stored_bytes: number
    suppressions: number
    /** When the counts of messages and test messages reset. */
    resets_at: string
    /** UTC */
    day: string
    /** Recipients of forward routes on that day. */
    forwards: number
    /** When the count of forwards resets. */
    day_resets_at: string
  }
  /** IP addresses that only this organization sends from. Empty: shared ones. */
  dedicated_addresses: Array<string>
}

export interface User {
  id: string
  /** Lower case. null: the first operator has set none yet. */
  email: string | null
  /** When somebody proved that the address is the user’s. null: only the role in the organization that invited the user is in effect. */
  email_verified_at: string | null
  name: string
  /** Operators have all rights in all organizations. */
  is_operator: boolean
  /** The role in your organization. Operators see all roles of the user. */
  roles: Array<{
    organization_id: string
    role: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
  }>
  /** Granted, and in effect once the address is verified. The user then signs in again. */
  awaiting: {
    /** Operators have all rights in all organizations. */
    is_operator: boolean
    /** The role in your organization. Operators see all roles of the user. */
    roles: Array<{
      organization_id: string
      role: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
    }>
  }
  created_at: string
  /** Accurate to one minute. */
  last_seen_at: string | null
  disabled_at: string | null
}

export interface Webhook {
  id: string
  url: string
  events: Array<EventType>
  /** Payload format. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: created by a test key, receives events of test messages only. */
  mode: 'live' | 'test'
  /** Receives events of this domain only; null = all domains. */
  domain_id: string | null
  description: string | null
  /** Names of the additional headers; the values are never shown. */
  header_names: Array<string>
  /** Why the webhook was paused automatically. */
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
  type: EventType
  status: 'pending' | 'delivered' | 'failed'
  attempts: Array<PostAttempt>
  next_attempt_at: string | null
  created_at: string
}

export interface WebhookDeliveryWithRequest {
  id: string
  webhook_id: string
  event_id: string
  type: EventType
  status: 'pending' | 'delivered' | 'failed'
  attempts: Array<PostAttempt>
  next_attempt_at: string | null
  created_at: string
  /** Request of the latest attempt, without the webhook’s additional headers. Attempts before a rotation of the secret had another signature. Null before the first attempt and in other formats than `enveloped`. */
  request: {
    headers: Record<string, string>
    body: string
  } | null
}

export interface WebhookPausedEvent {
  /** Identical on every attempt and replay. Use it to process each event once. */
  id: string
  type: 'webhook.paused'
  timestamp: string
  data: {
    webhook_id: string
    /** Scheme, host and port only: the rest may contain a token. */
    url: string
    /** Null if a user paused it. */
    reason: string | null
    mode: 'live' | 'test'
    paused_at: string
    /** True for a sample event from `POST …/test`. */
    test?: true
  }
}

export interface WebhookWithNewSecret {
  id: string
  url: string
  events: Array<EventType>
  /** Payload format. */
  format: 'enveloped' | 'resend'
  status: 'active' | 'paused'
  /** `test`: created by a test key, receives events of test messages only. */
  mode: 'live' | 'test'
  /** Receives events of this domain only; null = all domains. */
  domain_id: string | null
  description: string | null
  /** Names of the additional headers; the values are never shown. */
  header_names: Array<string>
  /** Why the webhook was paused automatically. */
  disabled_reason: string | null
  created_at: string
  updated_at: string
  last_success_at: string | null
  last_failure_at: string | null
  consecutive_failures: number
  /** Signing secret for verifying signatures. Shown only once. */
  secret: string
  previous_secret_expires_at: string
}

export interface WholeInboundMessage {
  id: string
  /** Null for mail to `postmaster` or `abuse` that matches no route. */
  route_id: string | null
  domain_id: string
  action: 'webhook' | 'forward' | 'store'
  status: 'pending' | 'delivered' | 'failed' | 'stored'
  /** Address in the From header; empty if there is none. */
  from: string
  /** Envelope recipients that the route matched. */
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
  /** Forward targets that did not get the message, with the reason. */
  not_forwarded: Array<{
    email: string
    reason: 'pending_confirmation' | 'stopped' | 'domain_not_verified'
  }>
  created_at: string
  /** These four fields are null after the retention period. */
  text_body: string | null
  html_body: string | null
  headers: Record<string, string> | null
  attachments: Array<{
    filename: string
    content_type: string
    size: number
    /** Content-ID without angle brackets, by which `html_body` shows it as `cid:`; null if it has none. */
    content_id: string | null
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
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  status?: 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled' | 'partial'
  to?: EmailAddress
  from?: EmailAddress
  subject?: string
  tag?: string
  template_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
  stream?: string
  /** Words in the subject and addresses; or a message ID, or a Message-ID. */
  q?: string
  /** `metadata[order]=1001`: messages with this metadata value. */
  metadata?: Record<string, string>
}

export interface MessagesUpdateBody {
  scheduled_at: Time
}

export interface MessagesContentQuery {
  part?: 'html' | 'text' | 'raw'
}

export interface MessagesEventsQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  type?: EventType
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
  /** `a@d` or `Name <a@d>`; must be at the key’s domain. */
  from: Mailbox
  to?: Mailbox | Array<Mailbox> | null
  cc?: Mailbox | Array<Mailbox> | null
  /** Not visible to other recipients. */
  bcc?: Mailbox | Array<Mailbox> | null
  reply_to?: Mailbox | Array<Mailbox> | null
  subject?: '' | string | null | null
  /** One of `html`, `text` or `template_id` is required. An empty value counts as missing. */
  html?: string | null
  /** Generated from `html` if missing or empty. */
  text?: string | null
  /** ID or alias of a template to use instead of `html` and `text`. */
  template_id?: string | null
  /** Values for the template’s variables. */
  variables?: Record<string, unknown> | null
  /** Language of the template, for example `pt-BR`. Without it: `pt`, then the template’s default. */
  locale?: string | null
  /** Additional headers. Headers that Postrider sets, such as `From` or `Date`, are rejected. `List-Unsubscribe` requires `unsubscribe: false`. */
  headers?: MessageHeaders | null
  /** The composed message can be at most 25 MiB, unless configured otherwise. */
  attachments?: Array<Attachment | RemoteAttachment> | null
  /** An invitation, which mail programs show with buttons: one text/calendar part beside text and HTML. */
  calendar?: Calendar | null
  /** At most 50 keys and 4 KiB. Included in events. */
  metadata?: Record<string, string | number | boolean> | null
  /** At most 64 characters each. Statistics can be filtered by tag. */
  tags?: Array<string> | null
  /** At most 30 days ahead. A time in the past sends immediately. */
  scheduled_at?: Time | null
  /** Seconds after which Postrider stops trying to deliver. */
  expires_in?: number | null
  /** Message stream: `transactional` (default), `bulk`, or another one of the server’s configuration. */
  stream?: string | null
  /** Deliver only over verified TLS. */
  require_tls?: boolean | null
  /** Tracks opens with an image of one pixel. Null or absent: use the domain’s setting. */
  track_opens?: boolean | null
  /** Rewrites links in `html` for click tracking, except those with `data-no-track` or the mark of another service. Null or absent: use the domain’s setting. */
  track_clicks?: boolean | null
  /** Adds a `List-Unsubscribe` header for each recipient and replaces `%unsubscribe_url%` with the recipient’s link. Where it is off, content with the placeholder is refused. Null or absent: use the setting of the stream or the domain. */
  unsubscribe?: boolean | null
}

export interface ApiKeysCreateBody {
  name: string
  /** The domain the key sends from. */
  domain_id: string
  permissions: Array<'send' | 'read' | 'manage' | 'admin'>
  /** `test`: a sandbox key. Test keys can only create test keys. */
  mode?: 'live' | 'test'
  /** When the key expires. A key that expires must set this, no later than its own expiry. */
  expires_at?: Time | null
  /** CIDR networks or single addresses, IPv4 and IPv6. Requests from other addresses get 401. `::/0` covers IPv6 only. Absent or null: any address. */
  allowed_networks?: Array<string> | null
}

export interface ApiKeysListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface ApiKeysUpdateBody {
  name?: string
  /** CIDR networks or single addresses, IPv4 and IPv6. Requests from other addresses get 401. `::/0` covers IPv6 only. Absent or null: any address. */
  allowed_networks?: Array<string> | null
}

export interface ApiKeysRotateBody {
  /** How long the old value stays valid. */
  grace_period_minutes?: number
}

export interface DomainsCreateBody {
  /** A registrable domain or a subdomain of one. */
  name: string
  tracking?: {
    opens?: boolean
    clicks?: boolean
    unsubscribe?: boolean
    /** Host for tracked links, under the domain; null = the server’s own host. */
    host?: string | null
  }
  /** Operators only: true to add the server’s own host name, so that it can receive mail for postmaster. */
  server_name?: boolean
}

export interface DomainsListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface DomainsUpdateBody {
  tracking?: {
    opens?: boolean
    clicks?: boolean
    unsubscribe?: boolean
    /** Host for tracked links, under the domain; null = the server’s own host. */
    host?: string | null
  }
}

export interface DomainsDmarcQuery {
  from?: Time
  to?: Time
}

export interface DomainsTlsReportsQuery {
  from?: Time
  to?: Time
}

export interface AuditLogListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  /** An operation, for example `api_keys_create`. */
  action?: string
  /** The ID of an API key or a user, or `operator`. */
  actor_id?: string
  resource_id?: string
}

export interface BillingUpdateBody {
  plan: string
}

export interface EventsListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  /** Lists events after this one, oldest first; empty = from the oldest stored event. */
  after?: string
  type?: EventType
  message_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
}

export interface EventsStreamQuery {
  /** Event types to include; repeat the parameter or separate types with commas. */
  types?: Array<
    | 'message.delivered'
    | 'message.bounced'
    | 'message.deferred'
    | 'message.opened'
    | 'message.clicked'
    | 'message.unsubscribed'
    | 'message.complained'
    | 'quality.alert'
    | 'message.suppressed'
    | 'message.accepted'
    | 'message.cancelled'
    | 'message.expired'
    | 'inbound.received'
    | 'domain.verified'
    | 'domain.failed'
    | 'webhook.paused'
    | 'suppression.added'
    | 'suppression.removed'
  >
  message_id?: string
  domain_id?: string
  mode?: 'live' | 'test'
  /** Start after this event; empty = start with the oldest stored event. */
  after?: string
}

export interface ExplainAddressQuery {
  to: EmailAddress
  /** Stream of the message. */
  stream?: string
}

export interface StatsReadQuery {
  from?: Time
  to?: Time
  interval?: 'hour' | 'day' | 'month'
  domain_id?: string
  tag?: string
  /** Message stream. Not together with `tag`. */
  stream?: string
  /** Adds `groups` and `other`. `tag` and `stream` cannot be combined with filters by either. */
  group_by?: 'domain' | 'tag' | 'stream'
  /** Absent: `live`, or `test` with a test key. */
  mode?: 'live' | 'test'
}

export interface QualityListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
}

export interface SuppressionsListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  email?: EmailAddress
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  /** Only suppressions of this stream, without those of every stream. */
  stream?: string
  /** Beginning of an address or of its domain. */
  q?: string
}

export interface SuppressionsCreateBody {
  email: EmailAddress
  /** Absent or null: the whole organization. If the organization has several domains, a key without `admin` can only suppress for its own. */
  domain_id?: string | null
  /** Absent or null: every stream. With the reason `complaint`, it also applies to every other stream except `transactional`. */
  stream?: string | null
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
}

export interface RecipientsEraseBody {
  email: EmailAddress
}

export interface RecipientsErasuresListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface SuppressionsExportQuery {
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
  /** Only suppressions of this stream, without those of every stream. */
  stream?: string
}

export interface SuppressionsImportBody {
  /** CSV text with a header row. */
  csv?: string
  /** Objects with the CSV’s fields, or as exported from another service. */
  suppressions?: Array<Record<string, unknown>>
  /** The service that exported the list. Absent: detected from the columns. */
  from?: 'resend' | 'postmark' | 'sendgrid' | 'mailgun' | 'ses' | 'postal'
  /** The reason for all entries, for exports that do not include it. */
  reason?: 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'block'
  /** The stream of all entries that name none, except hard bounces. Absent: these apply to every stream. */
  stream?: string
  /** Count only; import nothing. */
  dry_run?: boolean
}

export interface TemplatesCreateBody {
  name: string
  /** `layout`: html and text around others, with `{{ content }}` once. `partial`: for `{% render "alias" %}`. */
  kind?: 'message' | 'layout' | 'partial'
  alias?: string | null
  subject?: string | null
  html?: string | null
  /** MJML, from which Postrider compiles `html`. Send one of the two. */
  mjml?: string | null
  text?: string | null
  /** Alias of the layout around `html` and `text`. */
  layout?: string | null
  /** Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one. */
  locales?: Record<
    string,
    {
      subject?: string | null
      html?: string | null
      mjml?: string | null
      text?: string | null
    } | null
  > | null
  /** Values of variables for previews in the dashboard, at most 16 KiB of JSON. Messages never use them. */
  sample?: Record<string, unknown>
}

export interface TemplatesListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  kind?: 'message' | 'layout' | 'partial'
}

export interface TemplatesGetQuery {
  version?: string
}

export interface TemplatesUpdateBody {
  name?: string
  alias?: string | null
  subject?: string | null
  html?: string | null
  /** MJML, from which Postrider compiles `html`. Send one of the two. */
  mjml?: string | null
  text?: string | null
  /** Alias of the layout around `html` and `text`. */
  layout?: string | null
  /** Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one. */
  locales?: Record<
    string,
    {
      subject?: string | null
      html?: string | null
      mjml?: string | null
      text?: string | null
    } | null
  > | null
  /** Values of variables for previews in the dashboard, at most 16 KiB of JSON. Messages never use them. */
  sample?: Record<string, unknown>
}

export interface TemplatesRenderBody {
  variables?: Record<string, unknown>
  version?: number
  /** Wanted language; without it, the default. */
  locale?: string | null
}

export interface TemplatesPreviewBody {
  subject?: string | null
  html?: string | null
  /** MJML, from which Postrider compiles `html`. Send one of the two. */
  mjml?: string | null
  text?: string | null
  /** Alias of the layout around `html` and `text`. */
  layout?: string | null
  /** Wanted language; without it, the default. */
  locale?: string | null
  variables?: Record<string, unknown>
}

export interface TemplatesVersionsQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
}

export interface WebhooksCreateBody {
  /** Must use `https` and a public address. */
  url: string
  events: Array<EventType>
  description?: string | null
  /** `resend`: Resend’s payload and headers, for receivers built for Resend. Absent: `enveloped`. */
  format?: 'enveloped' | 'resend'
  /** Additional headers of every request, such as the key of an API gateway: at most 10, with values of up to 4 KiB. Values are never shown again; `header_names` lists the names. */
  headers?: EndpointHeaders
}

export interface WebhooksListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface WebhooksUpdateBody {
  /** Must use `https` and a public address. */
  url?: string
  events?: Array<EventType>
  status?: 'active' | 'paused'
  description?: string | null
  /** Additional headers of every request, such as the key of an API gateway: at most 10, with values of up to 4 KiB. Values are never shown again; `header_names` lists the names. */
  headers?: EndpointHeaders
}

export interface WebhooksTestBody {
  type: EventType
}

export interface WebhooksRotateSecretBody {
  /** How long the old value stays valid. */
  grace_period_minutes?: number
}

export interface WebhookDeliveriesListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  status?: 'pending' | 'delivered' | 'failed'
  type?: EventType
}

export interface WebhooksReplayBody {
  from: Time
  /** Exclusive; the default is now. */
  to?: Time
  /** Only events of this type. */
  type?: EventType
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
          /** Additional headers of every request, as for webhooks. Values are never shown again. Absent: those of the same scheme, host and port stay. */
          headers?: EndpointHeaders
          /** Ignored, so that clients can send a record back. */
          header_names?: Array<string>
        }
      }
    | {
        type: 'forward'
        config: {
          to:
            | EmailAddress
            | Array<
                | EmailAddress
                | {
                    email: EmailAddress
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
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
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
          /** Additional headers of every request, as for webhooks. Values are never shown again. Absent: those of the same scheme, host and port stay. */
          headers?: EndpointHeaders
          /** Ignored, so that clients can send a record back. */
          header_names?: Array<string>
        }
      }
    | {
        type: 'forward'
        config: {
          to:
            | EmailAddress
            | Array<
                | EmailAddress
                | {
                    email: EmailAddress
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
  email?: EmailAddress
}

export interface InboundRoutesTestBody {
  /** Currently ignored. */
  from?: EmailAddress | ''
  to: EmailAddress
  subject?: string
}

export interface InboundMessagesListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
  route_id?: string
  domain_id?: string
  from?: EmailAddress
  to?: EmailAddress
  status?: 'pending' | 'delivered' | 'failed'
  /** Part of the address of the sender or of a recipient, among the newest 50,000 messages. */
  q?: string
}

export interface InboundMessagesDeliveriesAnswer {
  data: Array<InboundDelivery>
  has_more: boolean
  /** Pass it as `cursor` to get the next page, even if this page has few entries. Null on the last page. */
  next_cursor: string | null
}

export interface InvitationsCreateBody {
  email: EmailAddress
  /** An API key cannot grant `owner`. */
  role: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
}

export interface InvitationsListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface UsersListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}

export interface UsersUpdateBody {
  /** Role in the organization. An API key cannot grant `owner`, nor change users who have it. */
  role?: 'owner' | 'admin' | 'developer' | 'support' | 'viewer'
  /** Only the operator changes it. */
  email?: EmailAddress
  /** Only the operator and the user change it. */
  name?: string
  /** Only the operator changes it. */
  is_operator?: boolean
  /** Only the operator changes it. Disabling ends all sessions of the user at once. */
  disabled?: boolean
}

export interface UsersDeleteQuery {
  /** What happens to the keys that the user made. Kept ones belong to the organization alone, with at most the rights of the last role of the user. */
  keys?: 'revoke' | 'keep'
}

export interface UsersSessionsListQuery {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
  /** Inclusive; ISO 8601. */
  created_after?: Time
  /** Exclusive; ISO 8601. */
  created_before?: Time
}
