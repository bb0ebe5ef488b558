"""The types of requests and responses. Generated from the OpenAPI document by scripts/client-types.ts."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class AcceptedMessageRecipientsItem(TypedDict):
    email: str
    type: Literal["to", "cc", "bcc"]
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled"]


class _AcceptedMessage(TypedDict):
    id: str
    message_id: str
    """Same as `id`."""
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled", "partial"]
    """`partial`: every recipient is final, with different results. `queued`, `scheduled` and `deferred` are not
    final.
    """
    created_at: str
    recipients: List[AcceptedMessageRecipientsItem]


class AcceptedMessage(_AcceptedMessage, total=False):
    scheduled_at: str


class AddressExplanationSlots(TypedDict):
    limit: int
    under_way: int


class AddressExplanationSiteSendingAddressesItemWarmup(TypedDict):
    """Warm-up of the address at this destination, while it lasts."""
    group: Literal["google", "microsoft", "yahoo", "apple", "others"]
    state: Literal["on_plan", "held", "stepped_back", "finished"]
    day: int
    """Day of the plan; 0 before the first."""
    allowance: Optional[int]
    """Messages that today allows."""
    waits_until: Optional[str]
    """When more mail may go from the address; null: now."""


class _AddressExplanationSiteSendingAddressesItem(TypedDict):
    address: str
    resting_until: Optional[str]
    resting_because: Optional[str]
    """Rule of the reply that blocked the address."""


class AddressExplanationSiteSendingAddressesItem(_AddressExplanationSiteSendingAddressesItem, total=False):
    warmup: AddressExplanationSiteSendingAddressesItemWarmup
    """Warm-up of the address at this destination, while it lasts."""


class AddressExplanationSite(TypedDict):
    name: str
    state: Literal["unknown", "proven", "troubled", "paused"]
    connections: int
    """Current limit of concurrent connections."""
    max_connections: int
    lowered_at: Optional[str]
    lowered_because: Optional[str]
    """Class of the reply that lowered the limit, for example `rate`. The reply text is not shown."""
    paused_until: Optional[str]
    sending_addresses: List[AddressExplanationSiteSendingAddressesItem]
    """IP addresses that the mail may be sent from. One that the destination blocks rests there, and others go
    first. Empty: the system chooses.
    """


class AddressExplanationLastMessage(TypedDict):
    message_id: str
    created_at: str
    mode: Literal["live", "test"]
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled"]
    attempts: int
    last_attempt_at: Optional[str]
    next_attempt_at: Optional[str]
    smtp_response: Optional[str]
    meaning: Optional[str]
    """Meaning of the status codes in the reply."""


class AddressExplanation(TypedDict):
    to: str
    would_send: bool
    explanation: List[str]
    """Explanation in sentences, most important first."""
    refused_with: Optional[Literal["domain_not_verified", "invalid_state", "quota_exceeded"]]
    """Why the key’s domain cannot send live mail now, to any recipient."""
    suppressions: List[Suppression]
    mx_hosts: Optional[List[str]]
    """Null: not looked up, because no further attempt follows."""
    tls_policy: Optional[Literal["none", "mta_sts_testing", "mta_sts", "dane", "required"]]
    """What requires TLS verification for the first MX host; null if there is no host."""
    dns_problem: Optional[str]
    slots: Optional[AddressExplanationSlots]
    """Concurrent deliveries to this destination. Null if no delivery engine runs or no further attempt follows."""
    site: Optional[AddressExplanationSite]
    """The destination: all domains whose best MX hosts share a registrable domain count as one."""
    last_message: Optional[AddressExplanationLastMessage]


class AnalysisIssuesItem(TypedDict):
    code: Literal["auth_domain_unverified", "auth_dkim_missing", "auth_dkim_mismatch", "auth_spf_missing", "auth_spf_mismatch", "auth_return_path_missing", "auth_dmarc_missing", "auth_dmarc_none", "auth_not_checked", "from_no_reply", "from_name_missing", "from_name_address", "from_name_capitals", "reply_to_other_domain", "reply_to_free_mail", "header_high_priority", "subject_missing", "subject_short", "subject_long", "subject_capitals", "subject_punctuation", "subject_spam_phrase", "subject_emoji", "subject_fake_reply", "subject_html", "subject_blanks", "content_empty", "text_missing", "text_empty", "text_html_mismatch", "content_spam_phrases", "content_capitals", "content_placeholder", "content_hidden_text", "content_invisible_colour", "unsubscribe_missing", "unsubscribe_link_dead", "unsubscribe_header_missing", "unsubscribe_link_missing", "variables_unresolved", "variables_undefined", "html_unclosed_tag", "html_misnested_tag", "html_stray_close", "html_cut_tag", "html_self_closed", "html_duplicate_attribute", "html_doctype_missing", "html_charset_missing", "html_lang_missing", "size_clipped", "size_near_clip", "size_large", "size_not_read_whole", "image_alt_missing", "image_only", "image_heavy", "image_without_source", "image_relative", "image_insecure", "image_data", "image_cid_unknown", "image_size_missing", "image_tracking_pixel", "remote_content", "link_insecure", "link_ip_host", "link_local_host", "link_shortener", "link_text_mismatch", "link_look_alike", "link_credentials", "link_scheme", "link_empty", "link_relative", "link_invalid", "link_without_text", "link_vague_text", "links_many", "active_script", "active_event_handler", "active_frame", "active_object", "active_form", "active_refresh", "active_base", "attachment_blocked", "attachment_macros", "attachment_html", "attachment_archive", "css_flexbox", "css_grid", "css_position", "css_float", "css_background_image", "css_gradient", "css_external_stylesheet", "css_import", "css_style_in_body", "css_variables", "css_web_font", "css_media_query", "css_supports", "css_animation", "css_transform", "css_filter", "css_shadow", "css_border_radius", "css_max_width", "css_object_fit", "css_functions", "css_viewport_units", "css_modern_colour", "css_pseudo_element", "css_attribute_selector", "css_gap", "html_video", "html_audio", "html_svg", "html_svg_image", "html_modern_image", "html_picture", "html_canvas", "html_button", "html_details", "html_math"]
    severity: Literal["error", "warning", "info"]
    category: Literal["authentication", "addresses", "subject", "content", "variables", "html", "size", "images", "links", "active", "clients", "attachments"]
    message: str
    """What is wrong and how to fix it."""
    field: str
    penalty: float


class AnalysisStats(TypedDict):
    size_bytes: int
    subject_characters: int
    html_bytes: int
    text_bytes: int
    words: int
    links: int
    images: int
    remote_images: int
    attachments: int
    image_text_ratio: float
    """Share of the image and text area taken by images, 0 to 1."""


class AnalysisLinksItem(TypedDict):
    url: str
    text: str
    problems: List[Literal["link_insecure", "link_ip_host", "link_local_host", "link_shortener", "link_text_mismatch", "link_look_alike", "link_credentials", "link_scheme", "link_empty", "link_relative", "link_invalid", "link_without_text", "link_vague_text"]]


class AnalysisRendered(TypedDict):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]


class Analysis(TypedDict):
    score: float
    verdict: Literal["good", "warning", "bad"]
    issues: List[AnalysisIssuesItem]
    stats: AnalysisStats
    links: List[AnalysisLinksItem]
    rendered: AnalysisRendered


class ApiKey(TypedDict):
    id: str
    name: str
    domain_id: str
    domain: Optional[str]
    """Domain name; null if the domain was deleted."""
    mode: Literal["live", "test"]
    permissions: List[Literal["send", "read", "manage", "admin"]]
    prefix: str
    """The first 16 characters, to identify the key."""
    created_at: str
    last_used_at: Optional[str]
    expires_at: Optional[str]
    revoked_at: Optional[str]
    rotated_to: Optional[str]
    """ID of the key that replaces this one."""
    allowed_networks: Optional[List[str]]
    """CIDR networks the key may be used from; requests from other addresses get 401. null = any address."""
    created_by: Optional[str]
    """ID of the user who created or rotated the key in the dashboard; null otherwise."""


class _Attachment(TypedDict):
    filename: str
    content: str


class Attachment(_Attachment, total=False):
    content_type: Optional[str]
    """Derived from the file name if absent."""
    content_id: Optional[str]
    """For `<img src="cid:…">`. Brackets and `cid:` in front are ignored."""
    url: None


class AttemptRelay(TypedDict):
    name: str
    rule: Optional[int]
    """Number of the relay rule, from 1; null: none, as for the smarthost."""
    because: Literal["rule", "address_blocked", "port_25_blocked", "direct_failing", "warmup_used_up", "same_route"]
    """`rule`, or why the relay took over from direct delivery."""


_AttemptCauseNamed = TypedDict("_AttemptCauseNamed", {"class": 'str'})


class AttemptCause(_AttemptCauseNamed):
    rule: str


class Attempt(TypedDict):
    recipient: str
    number: int
    started_at: str
    duration_ms: float
    outcome: Literal["delivered", "deferred", "bounced", "unknown"]
    """`unknown`: the connection was lost after the end of the message data. Postrider retries with the same
    Message-ID.
    """
    mx_host: Optional[str]
    mx_ip: Optional[str]
    source_ip: Optional[str]
    relay: Optional[AttemptRelay]
    """The relay that the attempt went through; null: the hosts of the recipient’s domain."""
    tls_version: Optional[str]
    tls_cipher: Optional[str]
    tls_verified: bool
    tls_policy: Literal["none", "mta_sts_testing", "mta_sts", "dane", "required"]
    """What required TLS verification: nothing, the domain’s MTA-STS policy (testing or enforced), its TLSA records
    (DANE), or `require_tls`.
    """
    smtp_response: Optional[str]
    enhanced_code: Optional[str]
    cause: Optional[AttemptCause]
    transcript: str
    """The SMTP conversation with timings in milliseconds. It omits message data and credentials."""


class AuditEntryActor(TypedDict):
    type: Literal["api_key", "user", "operator", "server"]
    id: str
    """ID of the API key or the user; `operator` for a command on the server."""
    name: str
    """Name of the key at that time, email address of the user, or local user name of the command."""


class AuditEntry(TypedDict):
    id: str
    created_at: str
    actor: AuditEntryActor
    action: str
    """The `operationId` of the operation."""
    resource_id: Optional[str]
    """The record that was changed or created."""
    created_id: Optional[str]
    """The resulting record if it is a different one, for example the new key of a rotation."""
    fields: List[str]
    """Names of the fields in the request, never their values."""
    ip_address: Optional[str]
    """IP address of the client; null for the command line."""
    outcome: str
    """`done`, `repeated` (an Idempotency-Key returned the original response), or the error code."""
    request_id: str


class BillingUsage(TypedDict):
    month: str
    """UTC"""
    messages: int
    """Recipients accepted for live sending, including forwards."""
    test_messages: int
    """Recipients of test messages."""
    domains: int
    webhooks: int
    inbound_routes: int
    templates: int
    api_keys: int
    """Active keys, without those in the grace period of a rotation."""
    scheduled_messages: int
    stored_bytes: int
    """A message counts its size plus 2 KiB, metadata and subject per recipient. Inbound mail counts twice its size
    plus 2 KiB. Templates and stored idempotent responses count their size.
    """
    suppressions: int
    resets_at: str
    """When the counts of messages and test messages reset."""
    day: str
    """UTC"""
    forwards: int
    """Recipients of forward routes on that day."""
    day_resets_at: str
    """When the count of forwards resets."""


class BillingPastMonthsItem(TypedDict):
    month: str
    """UTC"""
    messages: int


class BillingSelfServicePlansItem(TypedDict):
    plan: str
    limits: Optional[Limits]
    """-1 = unlimited. Null: the plan is no longer in the config."""


class Billing(TypedDict):
    organization_id: str
    plan: str
    limits: Optional[Limits]
    """-1 = unlimited. Null: the plan is no longer in the config."""
    usage: BillingUsage
    dedicated_addresses: List[str]
    """IP addresses that only this organization sends from. Empty: shared ones."""
    past_months: List[BillingPastMonthsItem]
    """Newest first."""
    self_service_plans: List[BillingSelfServicePlansItem]
    """Plans you can change to."""


class _Calendar(TypedDict):
    content: str
    """iCalendar text (RFC 5545)."""


class Calendar(_Calendar, total=False):
    method: Optional[Literal["PUBLISH", "REQUEST", "REPLY", "ADD", "CANCEL", "REFRESH", "COUNTER", "DECLINECOUNTER"]]
    """By default the METHOD of `content`, which must be the same."""


class CreatedApiKey(TypedDict):
    id: str
    name: str
    domain_id: str
    domain: Optional[str]
    """Domain name; null if the domain was deleted."""
    mode: Literal["live", "test"]
    permissions: List[Literal["send", "read", "manage", "admin"]]
    prefix: str
    """The first 16 characters, to identify the key."""
    created_at: str
    last_used_at: Optional[str]
    expires_at: Optional[str]
    revoked_at: Optional[str]
    rotated_to: Optional[str]
    """ID of the key that replaces this one."""
    allowed_networks: Optional[List[str]]
    """CIDR networks the key may be used from; requests from other addresses get 401. null = any address."""
    created_by: Optional[str]
    """ID of the user who created or rotated the key in the dashboard; null otherwise."""
    key: str
    """The key value. Shown only once."""


class CreatedInboundRouteMatch(TypedDict):
    type: Literal["address", "domain", "pattern", "catch_all"]
    value: Optional[str]


class CreatedInboundRouteActionConfig(TypedDict):
    url: str
    include_attachments: bool
    header_names: List[str]
    """Names of the additional headers; the values are never shown."""


class CreatedInboundRouteAction(TypedDict):
    type: Literal["webhook"]
    config: CreatedInboundRouteActionConfig


class CreatedInboundRouteAction2Config(TypedDict):
    to: List[ForwardTarget]


class CreatedInboundRouteAction2(TypedDict):
    type: Literal["forward"]
    config: CreatedInboundRouteAction2Config


class CreatedInboundRouteAction3(TypedDict):
    type: Literal["store"]
    config: Dict[str, Any]


class CreatedInboundRoute(TypedDict):
    id: str
    name: str
    match: CreatedInboundRouteMatch
    domain: Optional[str]
    """Domain the route applies to; null = every domain, for a catch-all created with an `admin` key."""
    action: Union[CreatedInboundRouteAction, CreatedInboundRouteAction2, CreatedInboundRouteAction3]
    authentication: Literal["none", "dmarc", "require_pass"]
    enabled: bool
    priority: int
    created_at: str
    secret: str
    """Signing secret for verifying signatures. Shown only once."""


class CreatedInvitation(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "developer", "support", "viewer"]
    invited_by: str
    """ID of a user or an API key, or `operator`."""
    created_at: str
    expires_at: str
    url: Optional[str]
    """Shown only once, for the person you invite. Null: you may not see it."""
    mail_queued: bool
    """True if the server sends the link by mail."""
    mail_reason: Optional[Literal["not_configured", "single_sign_on_only", "domain_not_verified", "sending_paused", "no_address", "received_here", "suppressed", "limit_reached"]]
    """Why no mail is sent, so that you, or an operator, passes on the link; null if it is sent."""


class CreatedWebhook(TypedDict):
    id: str
    url: str
    events: List[EventType]
    format: Literal["enveloped", "resend"]
    """Payload format."""
    status: Literal["active", "paused"]
    mode: Literal["live", "test"]
    """`test`: created by a test key, receives events of test messages only."""
    domain_id: Optional[str]
    """Receives events of this domain only; null = all domains."""
    description: Optional[str]
    header_names: List[str]
    """Names of the additional headers; the values are never shown."""
    disabled_reason: Optional[str]
    """Why the webhook was paused automatically."""
    created_at: str
    updated_at: str
    last_success_at: Optional[str]
    last_failure_at: Optional[str]
    consecutive_failures: int
    secret: str
    """Signing secret for verifying signatures. Shown only once."""


class Deletion(TypedDict):
    id: str
    deleted: Literal[True]


class DmarcSourcesDataItemDisposition(TypedDict):
    """What receivers did with the messages."""
    none: int
    quarantine: int
    reject: int


class DmarcSourcesDataItem(TypedDict):
    source_ip: str
    ptr: Optional[str]
    """Confirmed name of the address."""
    provider: Optional[str]
    """The mail service with that name."""
    messages: int
    spf_aligned: int
    """Messages whose SPF passed for the domain."""
    dkim_aligned: int
    """Messages with a valid DKIM signature of the domain."""
    disposition: DmarcSourcesDataItemDisposition
    """What receivers did with the messages."""
    reporters: List[str]
    """Domains that authenticated the reports, at most 20."""
    first_seen: str
    """Start of the first report period."""
    last_seen: str
    """End of the last report period."""
    kind: Literal["ours", "known", "unknown"]


class DmarcSourcesTotalsDisposition(TypedDict):
    """What receivers did with the messages."""
    none: int
    quarantine: int
    reject: int


class DmarcSourcesTotals(TypedDict):
    messages: int
    spf_aligned: int
    """Messages whose SPF passed for the domain."""
    dkim_aligned: int
    """Messages with a valid DKIM signature of the domain."""
    disposition: DmarcSourcesTotalsDisposition
    """What receivers did with the messages."""
    passed: int
    """Messages that passed DMARC by SPF or DKIM."""
    claimed: int
    """Messages as the reports claim. Of each reporter and day only 10,000 count, of large receivers 10,000,000."""
    reports: int
    sources: int
    reporters: int
    days: int
    """Days with messages."""


class DmarcSourcesUnknownReportersItem(TypedDict):
    reporter: str
    reports: int
    messages: int


class DmarcSourcesAdvice(TypedDict):
    policy: Literal["none", "quarantine", "reject"]
    text: str


class DmarcSources(TypedDict):
    data: List[DmarcSourcesDataItem]
    totals: DmarcSourcesTotals
    unknown_reporters: List[DmarcSourcesUnknownReportersItem]
    """Unknown domains that sent reports, at most 20, with the messages that they claim. They count in neither
    `data`, `totals` nor `advice`.
    """
    advice: DmarcSourcesAdvice


class DnsHost(TypedDict):
    name: Optional[str]
    console_url: Optional[str]
    """The page of the provider where records are edited."""
    advice: Optional[str]
    """What its forms expect."""


class DomainDkimItem(TypedDict):
    selector: str
    algorithm: Literal["rsa-sha256", "ed25519-sha256"]
    state: Literal["pending", "active", "retiring"]
    created_at: str


class DomainTracking(TypedDict):
    opens: bool
    clicks: bool
    unsubscribe: bool
    host: Optional[str]
    """Host for tracked links, under the domain; null = the server’s own host."""


class DomainDnsRecordsItem(TypedDict):
    purpose: Literal["dkim", "dkim_standby", "ownership", "spf", "dmarc", "return_path", "mx", "tls_rpt", "tracking", "mta_sts", "mta_sts_host"]
    type: Literal["TXT", "MX", "CNAME"]
    name: str
    value: str
    priority: Optional[int]
    required: bool
    status: Literal["pending", "valid", "missing", "mismatch"]
    found: List[str]
    """Value found at the last DNS check."""


class Domain(TypedDict):
    id: str
    name: str
    """Lower case; internationalized names as A-labels (`xn--`)."""
    status: Literal["pending", "verified", "failed"]
    detail: Optional[str]
    """Explains the status, for example a missing ownership record or a claim by another organization."""
    proved_by: Optional[Literal["dkim", "txt"]]
    """The DNS record that proves ownership. With `txt` the domain receives mail but does not send live mail."""
    proof_missing_since: Optional[str]
    """When a check first found no proof of ownership for the verified domain in DNS. After seven days the domain
    fails.
    """
    created_at: str
    verified_at: Optional[str]
    last_checked_at: Optional[str]
    dkim: List[DomainDkimItem]
    next_dkim_rotation_at: Optional[str]
    """When the server makes new DKIM keys by itself. Null while new keys wait for DNS, and for domains whose
    selectors are not CNAME records to the server’s zone.
    """
    return_path_host: str
    tracking: DomainTracking
    dns_records: List[DomainDnsRecordsItem]
    """DNS records to publish."""


class _DomainFailedEventData(TypedDict):
    domain_id: str
    domain: str
    failed_at: str
    reason: Literal["mismatch", "proof_lost", "claimed"]


class DomainFailedEventData(_DomainFailedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class DomainFailedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["domain.failed"]
    timestamp: str
    data: DomainFailedEventData


class _DomainVerifiedEventData(TypedDict):
    domain_id: str
    domain: str
    verified_at: str
    proved_by: Literal["dkim", "txt"]


class DomainVerifiedEventData(_DomainVerifiedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class DomainVerifiedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["domain.verified"]
    timestamp: str
    data: DomainVerifiedEventData


class ErasureRemoved(TypedDict):
    messages: int
    """Messages to nobody else."""
    shared_messages: int
    """Messages with other recipients, which lost the address and their content."""
    events: int
    inbound_messages: int
    responses: int
    """Stored responses of requests with an idempotency key."""
    suppressions: int
    """Suppressions that now keep the hash only."""


class ErasureRemainingItem(TypedDict):
    type: Literal["user", "invitation", "inbound_route", "forward_target"]
    id: Optional[str]
    """Null for a forward target, which has no ID."""


class Erasure(TypedDict):
    id: str
    status: Literal["running", "done"]
    """It runs until attempts in progress and shared messages to other recipients have ended."""
    address_hash: str
    """Keyed hash of the address. When the erasure ends, Postrider deletes the address itself."""
    created_at: str
    finished_at: Optional[str]
    removed: ErasureRemoved
    remaining: List[ErasureRemainingItem]
    """Records of your organization that still name the address when the erasure ends. Change them yourself."""


class ApiErrorErrorDetails(TypedDict):
    """Always contains the request ID."""
    request_id: str


class ApiErrorErrorErrorsItem(TypedDict):
    field: str
    message: str


class _ApiErrorError(TypedDict):
    code: Literal["validation_error", "unauthorized", "forbidden", "not_found", "method_not_allowed", "request_timeout", "conflict", "payload_too_large", "domain_not_verified", "template_error", "quota_exceeded", "invalid_state", "rate_limited", "internal_error", "unavailable"]
    message: str
    """Human-readable. The wording may change."""
    details: ApiErrorErrorDetails
    """Always contains the request ID."""


class ApiErrorError(_ApiErrorError, total=False):
    field: str
    """The first invalid field, for example `attachments[0].content`."""
    errors: List[ApiErrorErrorErrorsItem]
    """For `validation_error`: every invalid field."""
    retry_after: int
    """For `rate_limited`: seconds to wait, same as `Retry-After`."""


class ApiError(TypedDict):
    error: ApiErrorError


class ForwardConfirmationsDataItem(TypedDict):
    email: str
    status: Literal["pending", "confirmed"]
    sent: bool
    """A confirmation email is on its way."""
    reason: Optional[Literal["too_many", "stopped", "suppressed", "received_here"]]
    """Why no confirmation was sent to a pending target: daily limit reached, stopped by its owner, suppressed, or
    its mail is received by this server.
    """
    url: Optional[str]
    """For `received_here`, if the operator asks: the link that confirms. Only the target may use it."""


class ForwardConfirmations(TypedDict):
    data: List[ForwardConfirmationsDataItem]


class ForwardTarget(TypedDict):
    email: str
    status: Literal["pending", "confirmed"]
    """Pending targets receive no mail until they confirm."""
    is_stopped: bool
    """The owner stopped the forwarding. No further confirmation request is sent."""


class InboundDelivery(TypedDict):
    id: str
    inbound_message_id: str
    route_id: str
    status: Literal["pending", "delivered", "failed"]
    attempts: List[PostAttempt]
    next_attempt_at: Optional[str]
    created_at: str


class InboundMessageNotForwardedItem(TypedDict):
    email: str
    reason: Literal["pending_confirmation", "stopped", "domain_not_verified"]


_InboundMessageNamed = TypedDict("_InboundMessageNamed", {"from": 'str'})


class InboundMessage(_InboundMessageNamed):
    id: str
    route_id: Optional[str]
    """Null for mail to `postmaster` or `abuse` that matches no route."""
    domain_id: str
    action: Literal["webhook", "forward", "store"]
    status: Literal["pending", "delivered", "failed", "stored"]
    to: List[str]
    """Envelope recipients that the route matched."""
    subject: str
    message_id: str
    return_path: str
    sender_ip: str
    helo: str
    tls: Optional[str]
    size_bytes: int
    spf_result: Literal["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror", "policy"]
    dkim_result: Literal["none", "pass", "fail", "policy", "neutral", "temperror", "permerror"]
    dmarc_result: Literal["none", "pass", "fail", "temperror", "permerror"]
    arc_result: Literal["none", "pass", "fail"]
    parse_error: Optional[str]
    forwarded_as: Optional[str]
    not_forwarded: List[InboundMessageNotForwardedItem]
    """Forward targets that did not get the message, with the reason."""
    created_at: str


class InboundReceivedAttachmentsItem(TypedDict):
    filename: str
    content_type: str
    size: int


class InboundReceivedAttachmentsDataItem(TypedDict):
    filename: str
    content_type: str
    content: str


_InboundReceivedNamed = TypedDict("_InboundReceivedNamed", {"from": 'str'})


class _InboundReceived(_InboundReceivedNamed):
    event: Literal["inbound"]
    timestamp: str
    to: List[str]
    subject: str
    message_id: str
    text_body: str
    html_body: str
    headers: Dict[str, str]
    """Header names in lower case. Repeated headers are joined with line breaks."""
    attachments: List[InboundReceivedAttachmentsItem]
    spf_result: Literal["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror", "policy"]
    dkim_result: Literal["none", "pass", "fail", "policy", "neutral", "temperror", "permerror"]
    dmarc_result: Literal["none", "pass", "fail", "temperror", "permerror"]
    sender_ip: str


class InboundReceived(_InboundReceived, total=False):
    attachments_data: List[InboundReceivedAttachmentsDataItem]
    """With `include_attachments`: base64 content, in the order of `attachments`."""


class _InboundReceivedEventDataAttachmentsItem(TypedDict):
    filename: str
    content_type: str
    size: int


class InboundReceivedEventDataAttachmentsItem(_InboundReceivedEventDataAttachmentsItem, total=False):
    content_id: Optional[str]
    """Absent in events of earlier versions."""


_InboundReceivedEventDataNamed = TypedDict("_InboundReceivedEventDataNamed", {"from": 'str'})


class _InboundReceivedEventData(_InboundReceivedEventDataNamed):
    inbound_message_id: str
    route_id: Optional[str]
    """Null for mail to the domain’s postmaster or abuse address."""
    domain_id: str
    to: List[str]
    """Envelope recipients that the route matched."""
    subject: str
    message_id_header: str
    """The `Message-ID` header; empty if absent."""
    size_bytes: int
    received_at: str
    spf_result: str
    dkim_result: str
    dmarc_result: str
    attachments: List[InboundReceivedEventDataAttachmentsItem]
    """The first 50, without their content."""
    attachment_count: int


class InboundReceivedEventData(_InboundReceivedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class InboundReceivedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["inbound.received"]
    timestamp: str
    data: InboundReceivedEventData


class InboundRouteMatch(TypedDict):
    type: Literal["address", "domain", "pattern", "catch_all"]
    value: Optional[str]


class InboundRouteActionConfig(TypedDict):
    url: str
    include_attachments: bool
    header_names: List[str]
    """Names of the additional headers; the values are never shown."""


class InboundRouteAction(TypedDict):
    type: Literal["webhook"]
    config: InboundRouteActionConfig


class InboundRouteAction2Config(TypedDict):
    to: List[ForwardTarget]


class InboundRouteAction2(TypedDict):
    type: Literal["forward"]
    config: InboundRouteAction2Config


class InboundRouteAction3(TypedDict):
    type: Literal["store"]
    config: Dict[str, Any]


class InboundRoute(TypedDict):
    id: str
    name: str
    match: InboundRouteMatch
    domain: Optional[str]
    """Domain the route applies to; null = every domain, for a catch-all created with an `admin` key."""
    action: Union[InboundRouteAction, InboundRouteAction2, InboundRouteAction3]
    authentication: Literal["none", "dmarc", "require_pass"]
    enabled: bool
    priority: int
    created_at: str


class InboundRouteTestConsideredItem(TypedDict):
    id: str
    name: str
    matches: bool
    reason: str


class InboundRouteTest(TypedDict):
    taken_by: Optional[InboundRoute]
    """Null = no route matches and the mail would be rejected."""
    takes: bool
    """True if this is the route in the path."""
    by: Optional[Literal["address", "domain", "pattern", "catch_all"]]
    via_bare_address: bool
    """True if the route matches `a@d` and the address was `a+tag@d`."""
    reason: str
    considered: List[InboundRouteTestConsideredItem]


class Invitation(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "developer", "support", "viewer"]
    invited_by: str
    """ID of a user or an API key, or `operator`."""
    created_at: str
    expires_at: str


class Limits(TypedDict):
    requests_per_minute: int
    """Per API key."""
    messages_per_month: int
    """Recipients accepted for live sending, including forwards."""
    domains: int
    retention_days: int
    webhooks: int
    inbound_routes: int
    templates: int
    template_versions: int
    """Versions kept per template. The oldest are removed first."""
    api_keys: int
    """Active keys. As many again may be in the grace period of a rotation."""
    scheduled_messages: int
    stored_bytes: int
    test_messages_per_month: int
    """Recipients of test messages."""
    forwards_per_day: int
    """Recipients of forward routes."""
    suppressions: int
    """Suppressions added manually or by import. Bounces and complaints are always added."""
    dedicated_address: bool
    """Whether the organization gets a sending address of its own."""


class ListedTemplate(TypedDict):
    id: str
    alias: Optional[str]
    """Alternative to the ID. Live and test templates have separate aliases."""
    name: str
    mode: Literal["live", "test"]
    """`test`: created by a test key, for test messages only. Test messages can also use live templates."""
    kind: Literal["message", "layout", "partial"]
    """Messages use templates of kind `message`; these use layouts and partials."""
    subject: Optional[str]
    """Null = each message provides its own subject."""
    variables: List[str]
    """Variables found in the template, in order of first use."""
    version: int
    """Increases by one when the content changes."""
    created_at: str
    updated_at: str


class ListedTemplateVersion(TypedDict):
    version: int
    """Increases by one when the content changes."""
    subject: Optional[str]
    """Null = each message provides its own subject."""
    variables: List[str]
    """Variables found in the template, in order of first use."""
    created_at: str


_MessageNamed = TypedDict("_MessageNamed", {"from": 'str'})


class Message(_MessageNamed):
    id: str
    mode: Literal["live", "test"]
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled", "partial"]
    """`partial`: every recipient is final, with different results. `queued`, `scheduled` and `deferred` are not
    final.
    """
    to: Optional[Union[str, List[str]]]
    """The `To` addresses as submitted, with display names."""
    cc: Optional[Union[str, List[str]]]
    bcc: Optional[Union[str, List[str]]]
    reply_to: Optional[Union[str, List[str]]]
    subject: str
    tags: List[str]
    metadata: Dict[str, Union[str, float, bool]]
    template_id: Optional[str]
    domain_id: str
    size_bytes: int
    """The submitted content: subject, html, text and attachments as base64. For SMTP submissions, the whole
    message.
    """
    message_id_header: str
    created_at: str
    scheduled_at: Optional[str]
    source: Literal["api", "smtp"]
    stream: str
    """Message stream."""
    recipients: List[Recipient]


_MessageAcceptedEventDataNamed = TypedDict("_MessageAcceptedEventDataNamed", {"from": 'str'})


class _MessageAcceptedEventData(_MessageAcceptedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    accepted_at: str
    scheduled_at: Optional[str]


class MessageAcceptedEventData(_MessageAcceptedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageAcceptedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.accepted"]
    timestamp: str
    data: MessageAcceptedEventData


_MessageBouncedEventDataNamed = TypedDict("_MessageBouncedEventDataNamed", {"from": 'str'})


class _MessageBouncedEventData(_MessageBouncedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    bounce_type: Literal["hard", "soft"]
    bounce_code: str
    bounce_message: str
    bounced_at: str
    will_retry: bool


class MessageBouncedEventData(_MessageBouncedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageBouncedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.bounced"]
    timestamp: str
    data: MessageBouncedEventData


_MessageCancelledEventDataNamed = TypedDict("_MessageCancelledEventDataNamed", {"from": 'str'})


class _MessageCancelledEventData(_MessageCancelledEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    cancelled_at: str


class MessageCancelledEventData(_MessageCancelledEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageCancelledEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.cancelled"]
    timestamp: str
    data: MessageCancelledEventData


_MessageClickedEventDataNamed = TypedDict("_MessageClickedEventDataNamed", {"from": 'str'})


class _MessageClickedEventData(_MessageClickedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    clicked_at: str
    url: str
    user_agent: Optional[str]
    ip_address: Optional[str]
    machine: bool
    """True if a known machine, not a person, caused the event."""


class MessageClickedEventData(_MessageClickedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageClickedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.clicked"]
    timestamp: str
    data: MessageClickedEventData


_MessageComplainedEventDataNamed = TypedDict("_MessageComplainedEventDataNamed", {"from": 'str'})


class _MessageComplainedEventData(_MessageComplainedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    complained_at: str
    feedback_type: Optional[str]


class MessageComplainedEventData(_MessageComplainedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageComplainedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.complained"]
    timestamp: str
    data: MessageComplainedEventData


class MessageContentAttachmentsItem(TypedDict):
    filename: str
    content_type: str
    content_id: Optional[str]
    size_bytes: int


class MessageContent(TypedDict):
    id: str
    unsubscribe: bool
    """Postrider adds a `List-Unsubscribe` header for each recipient, as the message or its domain asks for."""
    subject: str
    html: Optional[str]
    text: Optional[str]
    headers: Dict[str, str]
    attachments: List[MessageContentAttachmentsItem]


_MessageDeferredEventDataNamed = TypedDict("_MessageDeferredEventDataNamed", {"from": 'str'})


class _MessageDeferredEventData(_MessageDeferredEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    deferred_at: str
    attempt: int
    next_attempt_at: Optional[str]
    smtp_response: str


class MessageDeferredEventData(_MessageDeferredEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageDeferredEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.deferred"]
    timestamp: str
    data: MessageDeferredEventData


_MessageDeliveredEventDataNamed = TypedDict("_MessageDeliveredEventDataNamed", {"from": 'str'})


class _MessageDeliveredEventData(_MessageDeliveredEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    delivered_at: str
    smtp_response: str


class MessageDeliveredEventData(_MessageDeliveredEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageDeliveredEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.delivered"]
    timestamp: str
    data: MessageDeliveredEventData


_MessageExpiredEventDataNamed = TypedDict("_MessageExpiredEventDataNamed", {"from": 'str'})


class _MessageExpiredEventData(_MessageExpiredEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    expired_at: str
    """Time of the last attempt, or end of `expires_in`. `message.bounced` is sent too."""


class MessageExpiredEventData(_MessageExpiredEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageExpiredEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.expired"]
    timestamp: str
    data: MessageExpiredEventData


class MessageExplanationRecipientsItemSlots(TypedDict):
    limit: int
    under_way: int


class MessageExplanationRecipientsItemSiteSendingAddressesItemWarmup(TypedDict):
    """Warm-up of the address at this destination, while it lasts."""
    group: Literal["google", "microsoft", "yahoo", "apple", "others"]
    state: Literal["on_plan", "held", "stepped_back", "finished"]
    day: int
    """Day of the plan; 0 before the first."""
    allowance: Optional[int]
    """Messages that today allows."""
    waits_until: Optional[str]
    """When more mail may go from the address; null: now."""


class _MessageExplanationRecipientsItemSiteSendingAddressesItem(TypedDict):
    address: str
    resting_until: Optional[str]
    resting_because: Optional[str]
    """Rule of the reply that blocked the address."""


class MessageExplanationRecipientsItemSiteSendingAddressesItem(_MessageExplanationRecipientsItemSiteSendingAddressesItem, total=False):
    warmup: MessageExplanationRecipientsItemSiteSendingAddressesItemWarmup
    """Warm-up of the address at this destination, while it lasts."""


class MessageExplanationRecipientsItemSite(TypedDict):
    name: str
    state: Literal["unknown", "proven", "troubled", "paused"]
    connections: int
    """Current limit of concurrent connections."""
    max_connections: int
    lowered_at: Optional[str]
    lowered_because: Optional[str]
    """Class of the reply that lowered the limit, for example `rate`. The reply text is not shown."""
    paused_until: Optional[str]
    sending_addresses: List[MessageExplanationRecipientsItemSiteSendingAddressesItem]
    """IP addresses that the mail may be sent from. One that the destination blocks rests there, and others go
    first. Empty: the system chooses.
    """


class MessageExplanationRecipientsItem(TypedDict):
    email: str
    type: Literal["to", "cc", "bcc"]
    explanation: List[str]
    """Explanation in sentences, most important first."""
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled"]
    attempts: int
    last_attempt_at: Optional[str]
    next_attempt_at: Optional[str]
    smtp_response: Optional[str]
    meaning: Optional[str]
    """Meaning of the status codes in the reply."""
    bounce_class: Optional[str]
    rule: Optional[str]
    suppressions: List[Suppression]
    mx_hosts: Optional[List[str]]
    """Null: not looked up, because no further attempt follows."""
    tls_policy: Optional[Literal["none", "mta_sts_testing", "mta_sts", "dane", "required"]]
    """What requires TLS verification for the first MX host; null if there is no host."""
    dns_problem: Optional[str]
    slots: Optional[MessageExplanationRecipientsItemSlots]
    """Concurrent deliveries to this destination. Null if no delivery engine runs or no further attempt follows."""
    site: Optional[MessageExplanationRecipientsItemSite]
    """The destination: all domains whose best MX hosts share a registrable domain count as one."""


class MessageExplanation(TypedDict):
    message_id: str
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled", "partial"]
    mode: Literal["live", "test"]
    recipients: List[MessageExplanationRecipientsItem]


_MessageOpenedEventDataNamed = TypedDict("_MessageOpenedEventDataNamed", {"from": 'str'})


class _MessageOpenedEventData(_MessageOpenedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    opened_at: str
    user_agent: Optional[str]
    ip_address: Optional[str]
    machine: bool
    """True if a known machine, not a person, caused the event."""


class MessageOpenedEventData(_MessageOpenedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageOpenedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.opened"]
    timestamp: str
    data: MessageOpenedEventData


_MessageSuppressedEventDataNamed = TypedDict("_MessageSuppressedEventDataNamed", {"from": 'str'})


class _MessageSuppressedEventData(_MessageSuppressedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    suppressed_at: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    suppression_stream: Optional[str]
    """Stream of the suppression; null = every stream."""


class MessageSuppressedEventData(_MessageSuppressedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageSuppressedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.suppressed"]
    timestamp: str
    data: MessageSuppressedEventData


_MessageUnsubscribedEventDataNamed = TypedDict("_MessageUnsubscribedEventDataNamed", {"from": 'str'})


class _MessageUnsubscribedEventData(_MessageUnsubscribedEventDataNamed):
    message_id: str
    to: str
    subject: str
    metadata: Dict[str, Union[str, float, bool]]
    tags: List[str]
    mode: Literal["live", "test"]
    unsubscribed_at: str
    method: Literal["one_click", "link", "mailto"]
    user_agent: Optional[str]
    ip_address: Optional[str]


class MessageUnsubscribedEventData(_MessageUnsubscribedEventData, total=False):
    stream: str
    """Message stream, unless it is `transactional`."""
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class MessageUnsubscribedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["message.unsubscribed"]
    timestamp: str
    data: MessageUnsubscribedEventData


class PostAttempt(TypedDict):
    number: int
    at: str
    duration_ms: float
    status_code: Optional[int]
    error: Optional[str]
    response_excerpt: Optional[str]


class QualityThresholds(TypedDict):
    bounce_rate: float
    complaint_rate: float
    min_sent: int


class Quality(TypedDict):
    domain_id: str
    domain: str
    sent: int
    """Recipients whose outcome became final within the window."""
    hard_bounced: int
    delivered: int
    complained: int
    bounce_rate: float
    """0 to 1; 0 if there is nothing to count."""
    complaint_rate: float
    """0 to 1; 0 if there is nothing to count."""
    thresholds: QualityThresholds
    window_hours: float
    sending_stopped: bool
    alerts: List[QualityAlert]
    """Active alerts first, then those resolved in the last 30 days."""


class QualityAlert(TypedDict):
    alert_id: str
    metric: Literal["bounce_rate", "complaint_rate"]
    value: float
    threshold: float
    window_hours: float
    sent: int
    affected: int
    state: Literal["firing", "resolved"]
    triggered_at: str
    resolved_at: Optional[str]


class _QualityAlertEventData(TypedDict):
    alert_id: str
    domain_id: str
    domain: str
    metric: Literal["bounce_rate", "complaint_rate"]
    value: float
    threshold: float
    window_hours: float
    sent: int
    affected: int
    state: Literal["firing", "resolved"]
    triggered_at: str


class QualityAlertEventData(_QualityAlertEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class QualityAlertEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["quality.alert"]
    timestamp: str
    data: QualityAlertEventData


class Recipient(TypedDict):
    email: str
    type: Literal["to", "cc", "bcc"]
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled"]
    attempts: int
    last_attempt_at: Optional[str]
    next_attempt_at: Optional[str]
    delivered_at: Optional[str]
    smtp_response: Optional[str]
    """Last reply from the recipient’s server."""
    bounce_type: Optional[Literal["hard", "soft"]]
    bounce_code: Optional[str]
    """Enhanced status code (RFC 3463), or the SMTP reply code."""
    mx_host: Optional[str]
    tls: Optional[str]
    """TLS version and cipher of the last attempt; null = unencrypted."""
    opens: int
    """Opens by people. Opens by known machines are counted separately."""
    clicks: int
    machine_opens: int
    machine_clicks: int


class _RemoteAttachment(TypedDict):
    url: str
    """Postrider downloads the file before it responds. The URL itself is not stored."""


class RemoteAttachment(_RemoteAttachment, total=False):
    filename: Optional[str]
    """The last segment of the URL’s path if absent."""
    content: None
    content_type: Optional[str]
    """Taken from the response of the URL if absent, or derived from the file name."""
    content_id: Optional[str]
    """For `<img src="cid:…">`. Brackets and `cid:` in front are ignored."""


class RenderedTemplate(TypedDict):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]


class Report(TypedDict):
    """Reports received after delivery: a DSN, a complaint or an automatic reply."""
    email: str
    kind: Literal["failed", "delayed", "delivered", "relayed", "expanded", "complaint", "unsubscribe", "auto_reply", "other"]
    """`other` is an unclassified report; `diagnostic` holds its subject and text."""
    received_at: str
    reporter: Optional[str]
    status: Optional[str]
    diagnostic: Optional[str]
    bounce_class: Optional[str]
    rule: Optional[str]
    feedback_type: Optional[str]


class RotatedApiKeyPrevious(TypedDict):
    """The old key and its expiry time."""
    id: str
    expires_at: str


class RotatedApiKey(TypedDict):
    id: str
    name: str
    domain_id: str
    domain: Optional[str]
    """Domain name; null if the domain was deleted."""
    mode: Literal["live", "test"]
    permissions: List[Literal["send", "read", "manage", "admin"]]
    prefix: str
    """The first 16 characters, to identify the key."""
    created_at: str
    last_used_at: Optional[str]
    expires_at: Optional[str]
    revoked_at: Optional[str]
    rotated_to: Optional[str]
    """ID of the key that replaces this one."""
    allowed_networks: Optional[List[str]]
    """CIDR networks the key may be used from; requests from other addresses get 401. null = any address."""
    created_by: Optional[str]
    """ID of the user who created or rotated the key in the dashboard; null otherwise."""
    key: str
    """The key value. Shown only once."""
    previous: RotatedApiKeyPrevious
    """The old key and its expiry time."""


_SendMessageNamed = TypedDict("_SendMessageNamed", {"from": 'Mailbox'})


class _SendMessage(_SendMessageNamed):
    to: Union[Mailbox, List[Mailbox]]
    """1 to 50 recipients together with `cc` and `bcc`, each `a@d` or `Name <a@d>`. Duplicates are merged."""


class SendMessage(_SendMessage, total=False):
    cc: Optional[Union[Mailbox, List[Mailbox]]]
    bcc: Optional[Union[Mailbox, List[Mailbox]]]
    """Not visible to other recipients."""
    reply_to: Optional[Union[Mailbox, List[Mailbox]]]
    subject: Optional[str]
    """Required unless the template has a subject. One line, at most 998 bytes."""
    html: Optional[str]
    """One of `html`, `text` or `template_id` is required. An empty value counts as missing."""
    text: Optional[str]
    """Generated from `html` if missing or empty."""
    template_id: Optional[str]
    """ID or alias of a template to use instead of `html` and `text`."""
    variables: Optional[Dict[str, Any]]
    """Values for the template’s variables."""
    locale: Optional[str]
    """Language of the template, for example `pt-BR`. Without it: `pt`, then the template’s default."""
    headers: Optional[MessageHeaders]
    """Additional headers. Headers that Postrider sets, such as `From` or `Date`, are rejected. `List-Unsubscribe`
    requires `unsubscribe: false`.
    """
    attachments: Optional[List[Union[Attachment, RemoteAttachment]]]
    """The composed message can be at most 25 MiB, unless configured otherwise."""
    calendar: Optional[Calendar]
    """An invitation, which mail programs show with buttons: one text/calendar part beside text and HTML."""
    metadata: Optional[Dict[str, Union[str, float, bool]]]
    """At most 50 keys and 4 KiB. Included in events."""
    tags: Optional[List[str]]
    """At most 64 characters each. Statistics can be filtered by tag."""
    scheduled_at: Optional[Time]
    """At most 30 days ahead. A time in the past sends immediately."""
    expires_in: Optional[int]
    """Seconds after which Postrider stops trying to deliver."""
    stream: Optional[str]
    """Message stream: `transactional` (default), `bulk`, or another one of the server’s configuration."""
    require_tls: Optional[bool]
    """Deliver only over verified TLS."""
    track_opens: Optional[bool]
    """Tracks opens with an image of one pixel. Null or absent: use the domain’s setting."""
    track_clicks: Optional[bool]
    """Rewrites links in `html` for click tracking, except those with `data-no-track` or the mark of another
    service. Null or absent: use the domain’s setting.
    """
    unsubscribe: Optional[bool]
    """Adds a `List-Unsubscribe` header for each recipient and replaces `%unsubscribe_url%` with the recipient’s
    link. Where it is off, content with the placeholder is refused. Null or absent: use the setting of the
    stream or the domain.
    """


class Session(TypedDict):
    id: str
    user_id: str
    created_at: str
    last_seen_at: str
    """Accurate to one minute."""
    ends_at: str
    """Sessions expire after seven days without use, and after 30 days at the latest."""
    ip_address: Optional[str]
    """IP address of the sign-in."""
    user_agent: str


class StatsDataItem(TypedDict):
    period_start: str
    accepted: int
    delivered: int
    deferred: int
    bounced: int
    hard_bounced: int
    soft_bounced: int
    opened: int
    unique_opened: int
    clicked: int
    unique_clicked: int
    unsubscribed: int
    complained: int
    suppressed: int


class StatsTotals(TypedDict):
    accepted: int
    delivered: int
    deferred: int
    bounced: int
    hard_bounced: int
    soft_bounced: int
    opened: int
    unique_opened: int
    clicked: int
    unique_clicked: int
    unsubscribed: int
    complained: int
    suppressed: int
    delivery_rate: float
    """0 to 1; 0 if there is nothing to count."""
    bounce_rate: float
    """0 to 1; 0 if there is nothing to count."""
    complaint_rate: float
    """0 to 1; 0 if there is nothing to count."""
    open_rate: float
    """0 to 1; 0 if there is nothing to count."""
    click_rate: float
    """0 to 1; 0 if there is nothing to count."""


class StatsGroupsItem(TypedDict):
    key: str
    """Value of the filter `domain_id`, `tag` or `stream` for this group."""
    name: Optional[str]
    """Null for a domain that was removed."""
    accepted: int
    delivered: int
    deferred: int
    bounced: int
    hard_bounced: int
    soft_bounced: int
    opened: int
    unique_opened: int
    clicked: int
    unique_clicked: int
    unsubscribed: int
    complained: int
    suppressed: int
    delivery_rate: float
    """0 to 1; 0 if there is nothing to count."""
    bounce_rate: float
    """0 to 1; 0 if there is nothing to count."""
    complaint_rate: float
    """0 to 1; 0 if there is nothing to count."""
    open_rate: float
    """0 to 1; 0 if there is nothing to count."""
    click_rate: float
    """0 to 1; 0 if there is nothing to count."""


class StatsOther(TypedDict):
    accepted: int
    delivered: int
    deferred: int
    bounced: int
    hard_bounced: int
    soft_bounced: int
    opened: int
    unique_opened: int
    clicked: int
    unique_clicked: int
    unsubscribed: int
    complained: int
    suppressed: int
    delivery_rate: float
    """0 to 1; 0 if there is nothing to count."""
    bounce_rate: float
    """0 to 1; 0 if there is nothing to count."""
    complaint_rate: float
    """0 to 1; 0 if there is nothing to count."""
    open_rate: float
    """0 to 1; 0 if there is nothing to count."""
    click_rate: float
    """0 to 1; 0 if there is nothing to count."""


class _Stats(TypedDict):
    data: List[StatsDataItem]
    totals: StatsTotals


class Stats(_Stats, total=False):
    groups: List[StatsGroupsItem]
    """Only with `group_by`: at most 100 groups, those with most accepted recipients first. Mail with several tags
    counts in each.
    """
    other: Optional[StatsOther]
    """Only with `group_by`: sum of the groups beyond 100; null without any."""


class Suppression(TypedDict):
    id: str
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    domain_id: Optional[str]
    """Null = the whole organization."""
    stream: Optional[str]
    """Null = every stream. With the reason `complaint`, it also applies to every other stream except
    `transactional`.
    """
    message_id: Optional[str]
    """The message that caused the suppression."""
    created_at: str
    evidence: Optional[str]
    """Details from the imported list."""
    mode: Literal["live", "test"]
    """`test`: created by a test key, applies to test messages only. `live` suppressions apply to both."""


class _SuppressionAddedEventData(TypedDict):
    suppression_id: str
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    domain_id: Optional[str]
    """Null = the whole organization."""
    stream: Optional[str]
    """Null = every stream."""
    message_id: Optional[str]
    mode: Literal["live", "test"]
    added_at: str


class SuppressionAddedEventData(_SuppressionAddedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class SuppressionAddedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["suppression.added"]
    timestamp: str
    data: SuppressionAddedEventData


class SuppressionImportErrorsItem(TypedDict):
    number: int
    message: str


class SuppressionImport(TypedDict):
    added: int
    already_there: int
    passed_over: int
    """Temporary failures, and people who unsubscribed from one kind of mail only."""
    bad: int
    dry_run: bool
    errors: List[SuppressionImportErrorsItem]
    errors_left_out: int


class _SuppressionRemovedEventData(TypedDict):
    suppression_id: str
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    domain_id: Optional[str]
    """Null = the whole organization."""
    stream: Optional[str]
    """Null = every stream."""
    message_id: Optional[str]
    mode: Literal["live", "test"]
    removed_at: str


class SuppressionRemovedEventData(_SuppressionRemovedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class SuppressionRemovedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["suppression.removed"]
    timestamp: str
    data: SuppressionRemovedEventData


class TemplateLocalesValue(TypedDict):
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    text: Optional[str]
    variables: List[str]
    """Variables found in the template, in order of first use."""


class Template(TypedDict):
    id: str
    alias: Optional[str]
    """Alternative to the ID. Live and test templates have separate aliases."""
    name: str
    mode: Literal["live", "test"]
    """`test`: created by a test key, for test messages only. Test messages can also use live templates."""
    kind: Literal["message", "layout", "partial"]
    """Messages use templates of kind `message`; these use layouts and partials."""
    subject: Optional[str]
    """Null = each message provides its own subject."""
    html: Optional[str]
    mjml: Optional[str]
    """MJML that `html` was compiled from; null if there is none."""
    text: Optional[str]
    layout: Optional[str]
    """Alias of the layout around `html` and `text`."""
    locales: Dict[str, TemplateLocalesValue]
    """Texts in other languages, by locale such as `de` or `pt-BR`."""
    variables: List[str]
    """Variables found in the template, in order of first use."""
    sample: Dict[str, Any]
    """Values of variables for previews."""
    version: int
    """Increases by one when the content changes."""
    created_at: str
    updated_at: str


class TemplatePreview(TypedDict):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]
    variables: List[str]
    """Variables found in the template, in order of first use."""
    missing: List[str]
    """Variables without a value or a default. They are rendered as `[name]`."""


class TlsResultsDataItem(TypedDict):
    policy: str
    """`sts`, `tlsa`, `no-policy-found`, or another word of the reporter."""
    result: str
    """`success`, or the failure as in RFC 8460 §4.3."""
    mx_host: Optional[str]
    sessions: int
    reporters: List[str]
    """Domains that authenticated the reports, at most 20."""
    first_seen: str
    """Start of the first report period."""
    last_seen: str
    """End of the last report period."""


class TlsResultsTotals(TypedDict):
    reports: int
    successful: int
    failed: int


class TlsResults(TypedDict):
    data: List[TlsResultsDataItem]
    totals: TlsResultsTotals


class UsageUsage(TypedDict):
    month: str
    """UTC"""
    messages: int
    """Recipients accepted for live sending, including forwards."""
    test_messages: int
    """Recipients of test messages."""
    domains: int
    webhooks: int
    inbound_routes: int
    templates: int
    api_keys: int
    """Active keys, without those in the grace period of a rotation."""
    scheduled_messages: int
    stored_bytes: int
    """A message counts its size plus 2 KiB, metadata and subject per recipient. Inbound mail counts twice its size
    plus 2 KiB. Templates and stored idempotent responses count their size.
    """
    suppressions: int
    resets_at: str
    """When the counts of messages and test messages reset."""
    day: str
    """UTC"""
    forwards: int
    """Recipients of forward routes on that day."""
    day_resets_at: str
    """When the count of forwards resets."""


class Usage(TypedDict):
    organization_id: str
    plan: str
    limits: Optional[Limits]
    """-1 = unlimited. Null: the plan is no longer in the config."""
    usage: UsageUsage
    dedicated_addresses: List[str]
    """IP addresses that only this organization sends from. Empty: shared ones."""


class UserRolesItem(TypedDict):
    organization_id: str
    role: Literal["owner", "admin", "developer", "support", "viewer"]


class UserAwaitingRolesItem(TypedDict):
    organization_id: str
    role: Literal["owner", "admin", "developer", "support", "viewer"]


class UserAwaiting(TypedDict):
    """Granted, and in effect once the address is verified. The user then signs in again."""
    is_operator: bool
    """Operators have all rights in all organizations."""
    roles: List[UserAwaitingRolesItem]
    """The role in your organization. Operators see all roles of the user."""


class User(TypedDict):
    id: str
    email: Optional[str]
    """Lower case. null: the first operator has set none yet."""
    email_verified_at: Optional[str]
    """When somebody proved that the address is the user’s. null: only the role in the organization that invited
    the user is in effect.
    """
    name: str
    is_operator: bool
    """Operators have all rights in all organizations."""
    roles: List[UserRolesItem]
    """The role in your organization. Operators see all roles of the user."""
    awaiting: UserAwaiting
    """Granted, and in effect once the address is verified. The user then signs in again."""
    created_at: str
    last_seen_at: Optional[str]
    """Accurate to one minute."""
    disabled_at: Optional[str]


class Webhook(TypedDict):
    id: str
    url: str
    events: List[EventType]
    format: Literal["enveloped", "resend"]
    """Payload format."""
    status: Literal["active", "paused"]
    mode: Literal["live", "test"]
    """`test`: created by a test key, receives events of test messages only."""
    domain_id: Optional[str]
    """Receives events of this domain only; null = all domains."""
    description: Optional[str]
    header_names: List[str]
    """Names of the additional headers; the values are never shown."""
    disabled_reason: Optional[str]
    """Why the webhook was paused automatically."""
    created_at: str
    updated_at: str
    last_success_at: Optional[str]
    last_failure_at: Optional[str]
    consecutive_failures: int


class WebhookDelivery(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    type: EventType
    status: Literal["pending", "delivered", "failed"]
    attempts: List[PostAttempt]
    next_attempt_at: Optional[str]
    created_at: str


class WebhookDeliveryWithRequestRequest(TypedDict):
    headers: Dict[str, str]
    body: str


class WebhookDeliveryWithRequest(TypedDict):
    id: str
    webhook_id: str
    event_id: str
    type: EventType
    status: Literal["pending", "delivered", "failed"]
    attempts: List[PostAttempt]
    next_attempt_at: Optional[str]
    created_at: str
    request: Optional[WebhookDeliveryWithRequestRequest]
    """Request of the latest attempt, without the webhook’s additional headers. Attempts before a rotation of the
    secret had another signature. Null before the first attempt and in other formats than `enveloped`.
    """


class _WebhookPausedEventData(TypedDict):
    webhook_id: str
    url: str
    """Scheme, host and port only: the rest may contain a token."""
    reason: Optional[str]
    """Null if a user paused it."""
    mode: Literal["live", "test"]
    paused_at: str


class WebhookPausedEventData(_WebhookPausedEventData, total=False):
    test: Literal[True]
    """True for a sample event from `POST …/test`."""


class WebhookPausedEvent(TypedDict):
    id: str
    """Identical on every attempt and replay. Use it to process each event once."""
    type: Literal["webhook.paused"]
    timestamp: str
    data: WebhookPausedEventData


class WebhookWithNewSecret(TypedDict):
    id: str
    url: str
    events: List[EventType]
    format: Literal["enveloped", "resend"]
    """Payload format."""
    status: Literal["active", "paused"]
    mode: Literal["live", "test"]
    """`test`: created by a test key, receives events of test messages only."""
    domain_id: Optional[str]
    """Receives events of this domain only; null = all domains."""
    description: Optional[str]
    header_names: List[str]
    """Names of the additional headers; the values are never shown."""
    disabled_reason: Optional[str]
    """Why the webhook was paused automatically."""
    created_at: str
    updated_at: str
    last_success_at: Optional[str]
    last_failure_at: Optional[str]
    consecutive_failures: int
    secret: str
    """Signing secret for verifying signatures. Shown only once."""
    previous_secret_expires_at: str


class WholeInboundMessageNotForwardedItem(TypedDict):
    email: str
    reason: Literal["pending_confirmation", "stopped", "domain_not_verified"]


class WholeInboundMessageAttachmentsItem(TypedDict):
    filename: str
    content_type: str
    size: int
    content_id: Optional[str]
    """Content-ID without angle brackets, by which `html_body` shows it as `cid:`; null if it has none."""


_WholeInboundMessageNamed = TypedDict("_WholeInboundMessageNamed", {"from": 'str'})


class WholeInboundMessage(_WholeInboundMessageNamed):
    id: str
    route_id: Optional[str]
    """Null for mail to `postmaster` or `abuse` that matches no route."""
    domain_id: str
    action: Literal["webhook", "forward", "store"]
    status: Literal["pending", "delivered", "failed", "stored"]
    to: List[str]
    """Envelope recipients that the route matched."""
    subject: str
    message_id: str
    return_path: str
    sender_ip: str
    helo: str
    tls: Optional[str]
    size_bytes: int
    spf_result: Literal["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror", "policy"]
    dkim_result: Literal["none", "pass", "fail", "policy", "neutral", "temperror", "permerror"]
    dmarc_result: Literal["none", "pass", "fail", "temperror", "permerror"]
    arc_result: Literal["none", "pass", "fail"]
    parse_error: Optional[str]
    forwarded_as: Optional[str]
    not_forwarded: List[WholeInboundMessageNotForwardedItem]
    """Forward targets that did not get the message, with the reason."""
    created_at: str
    text_body: Optional[str]
    """These four fields are null after the retention period."""
    html_body: Optional[str]
    headers: Optional[Dict[str, str]]
    attachments: Optional[List[WholeInboundMessageAttachmentsItem]]


class MessagesBatchBody(TypedDict):
    messages: List[SendMessage]


class MessagesBatchAnswer(TypedDict):
    data: List[Union[AcceptedMessage, ApiError]]


_MessagesListQueryMaybeNamed = TypedDict("_MessagesListQueryMaybeNamed", {"from": 'EmailAddress'}, total=False)


class MessagesListQuery(_MessagesListQueryMaybeNamed, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    status: Literal["scheduled", "queued", "deferred", "delivered", "bounced", "suppressed", "cancelled", "partial"]
    to: EmailAddress
    subject: str
    tag: str
    template_id: str
    domain_id: str
    mode: Literal["live", "test"]
    stream: str
    q: str
    """Words in the subject and addresses; or a message ID, or a Message-ID."""
    metadata: Dict[str, str]
    """`metadata[order]=1001`: messages with this metadata value."""


class MessagesUpdateBody(TypedDict):
    scheduled_at: Time


class MessagesContentQuery(TypedDict, total=False):
    part: Literal["html", "text", "raw"]


class MessagesEventsQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    type: EventType


class MessagesAttemptsAnswer(TypedDict):
    data: List[Attempt]
    reports: List[Report]
    has_more: Literal[False]
    next_cursor: None


class MessagesWebhookDeliveriesAnswer(TypedDict):
    data: List[WebhookDelivery]
    has_more: bool
    next_cursor: None


_MessagesAnalyzeBodyNamed = TypedDict("_MessagesAnalyzeBodyNamed", {"from": 'Mailbox'})


class MessagesAnalyzeBody(_MessagesAnalyzeBodyNamed, total=False):
    to: Optional[Union[Mailbox, List[Mailbox]]]
    cc: Optional[Union[Mailbox, List[Mailbox]]]
    bcc: Optional[Union[Mailbox, List[Mailbox]]]
    """Not visible to other recipients."""
    reply_to: Optional[Union[Mailbox, List[Mailbox]]]
    subject: Optional[Union[Literal[""], str]]
    html: Optional[str]
    """One of `html`, `text` or `template_id` is required. An empty value counts as missing."""
    text: Optional[str]
    """Generated from `html` if missing or empty."""
    template_id: Optional[str]
    """ID or alias of a template to use instead of `html` and `text`."""
    variables: Optional[Dict[str, Any]]
    """Values for the template’s variables."""
    locale: Optional[str]
    """Language of the template, for example `pt-BR`. Without it: `pt`, then the template’s default."""
    headers: Optional[MessageHeaders]
    """Additional headers. Headers that Postrider sets, such as `From` or `Date`, are rejected. `List-Unsubscribe`
    requires `unsubscribe: false`.
    """
    attachments: Optional[List[Union[Attachment, RemoteAttachment]]]
    """The composed message can be at most 25 MiB, unless configured otherwise."""
    calendar: Optional[Calendar]
    """An invitation, which mail programs show with buttons: one text/calendar part beside text and HTML."""
    metadata: Optional[Dict[str, Union[str, float, bool]]]
    """At most 50 keys and 4 KiB. Included in events."""
    tags: Optional[List[str]]
    """At most 64 characters each. Statistics can be filtered by tag."""
    scheduled_at: Optional[Time]
    """At most 30 days ahead. A time in the past sends immediately."""
    expires_in: Optional[int]
    """Seconds after which Postrider stops trying to deliver."""
    stream: Optional[str]
    """Message stream: `transactional` (default), `bulk`, or another one of the server’s configuration."""
    require_tls: Optional[bool]
    """Deliver only over verified TLS."""
    track_opens: Optional[bool]
    """Tracks opens with an image of one pixel. Null or absent: use the domain’s setting."""
    track_clicks: Optional[bool]
    """Rewrites links in `html` for click tracking, except those with `data-no-track` or the mark of another
    service. Null or absent: use the domain’s setting.
    """
    unsubscribe: Optional[bool]
    """Adds a `List-Unsubscribe` header for each recipient and replaces `%unsubscribe_url%` with the recipient’s
    link. Where it is off, content with the placeholder is refused. Null or absent: use the setting of the
    stream or the domain.
    """


class _ApiKeysCreateBody(TypedDict):
    name: str
    domain_id: str
    """The domain the key sends from."""
    permissions: List[Literal["send", "read", "manage", "admin"]]


class ApiKeysCreateBody(_ApiKeysCreateBody, total=False):
    mode: Literal["live", "test"]
    """`test`: a sandbox key. Test keys can only create test keys."""
    expires_at: Optional[Time]
    """When the key expires. A key that expires must set this, no later than its own expiry."""
    allowed_networks: Optional[List[str]]
    """CIDR networks or single addresses, IPv4 and IPv6. Requests from other addresses get 401. `::/0` covers IPv6
    only. Absent or null: any address.
    """


class ApiKeysListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class ApiKeysUpdateBody(TypedDict, total=False):
    name: str
    allowed_networks: Optional[List[str]]
    """CIDR networks or single addresses, IPv4 and IPv6. Requests from other addresses get 401. `::/0` covers IPv6
    only. Absent or null: any address.
    """


class ApiKeysRotateBody(TypedDict, total=False):
    grace_period_minutes: int
    """How long the old value stays valid."""


class DomainsCreateBodyTracking(TypedDict, total=False):
    opens: bool
    clicks: bool
    unsubscribe: bool
    host: Optional[str]
    """Host for tracked links, under the domain; null = the server’s own host."""


class _DomainsCreateBody(TypedDict):
    name: str
    """A registrable domain or a subdomain of one."""


class DomainsCreateBody(_DomainsCreateBody, total=False):
    tracking: DomainsCreateBodyTracking
    server_name: bool
    """Operators only: true to add the server’s own host name, so that it can receive mail for postmaster."""


class DomainsListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class DomainsUpdateBodyTracking(TypedDict, total=False):
    opens: bool
    clicks: bool
    unsubscribe: bool
    host: Optional[str]
    """Host for tracked links, under the domain; null = the server’s own host."""


class DomainsUpdateBody(TypedDict, total=False):
    tracking: DomainsUpdateBodyTracking


_DomainsDmarcQueryMaybeNamed = TypedDict("_DomainsDmarcQueryMaybeNamed", {"from": 'Time'}, total=False)


class DomainsDmarcQuery(_DomainsDmarcQueryMaybeNamed, total=False):
    to: Time


_DomainsTlsReportsQueryMaybeNamed = TypedDict("_DomainsTlsReportsQueryMaybeNamed", {"from": 'Time'}, total=False)


class DomainsTlsReportsQuery(_DomainsTlsReportsQueryMaybeNamed, total=False):
    to: Time


class AuditLogListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    action: str
    """An operation, for example `api_keys_create`."""
    actor_id: str
    """The ID of an API key or a user, or `operator`."""
    resource_id: str


class BillingUpdateBody(TypedDict):
    plan: str


class EventsListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    after: str
    """Lists events after this one, oldest first; empty = from the oldest stored event."""
    type: EventType
    message_id: str
    domain_id: str
    mode: Literal["live", "test"]


class EventsStreamQuery(TypedDict, total=False):
    types: List[Literal["message.delivered", "message.bounced", "message.deferred", "message.opened", "message.clicked", "message.unsubscribed", "message.complained", "quality.alert", "message.suppressed", "message.accepted", "message.cancelled", "message.expired", "inbound.received", "domain.verified", "domain.failed", "webhook.paused", "suppression.added", "suppression.removed"]]
    """Event types to include; repeat the parameter or separate types with commas."""
    message_id: str
    domain_id: str
    mode: Literal["live", "test"]
    after: str
    """Start after this event; empty = start with the oldest stored event."""


class _ExplainAddressQuery(TypedDict):
    to: EmailAddress


class ExplainAddressQuery(_ExplainAddressQuery, total=False):
    stream: str
    """Stream of the message."""


_StatsReadQueryMaybeNamed = TypedDict("_StatsReadQueryMaybeNamed", {"from": 'Time'}, total=False)


class StatsReadQuery(_StatsReadQueryMaybeNamed, total=False):
    to: Time
    interval: Literal["hour", "day", "month"]
    domain_id: str
    tag: str
    stream: str
    """Message stream. Not together with `tag`."""
    group_by: Literal["domain", "tag", "stream"]
    """Adds `groups` and `other`. `tag` and `stream` cannot be combined with filters by either."""
    mode: Literal["live", "test"]
    """Absent: `live`, or `test` with a test key."""


class QualityListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""


class SuppressionsListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    email: EmailAddress
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    stream: str
    """Only suppressions of this stream, without those of every stream."""
    q: str
    """Beginning of an address or of its domain."""


class _SuppressionsCreateBody(TypedDict):
    email: EmailAddress


class SuppressionsCreateBody(_SuppressionsCreateBody, total=False):
    domain_id: Optional[str]
    """Absent or null: the whole organization. If the organization has several domains, a key without `admin` can
    only suppress for its own.
    """
    stream: Optional[str]
    """Absent or null: every stream. With the reason `complaint`, it also applies to every other stream except
    `transactional`.
    """
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]


class RecipientsEraseBody(TypedDict):
    email: EmailAddress


class RecipientsErasuresListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class SuppressionsExportQuery(TypedDict, total=False):
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    stream: str
    """Only suppressions of this stream, without those of every stream."""


_SuppressionsImportBodyMaybeNamed = TypedDict("_SuppressionsImportBodyMaybeNamed", {"from": 'Literal["resend", "postmark", "sendgrid", "mailgun", "ses", "postal"]'}, total=False)


class SuppressionsImportBody(_SuppressionsImportBodyMaybeNamed, total=False):
    csv: str
    """CSV text with a header row."""
    suppressions: List[Dict[str, Any]]
    """Objects with the CSV’s fields, or as exported from another service."""
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual", "block"]
    """The reason for all entries, for exports that do not include it."""
    stream: str
    """The stream of all entries that name none, except hard bounces. Absent: these apply to every stream."""
    dry_run: bool
    """Count only; import nothing."""


class TemplatesCreateBodyLocalesValue(TypedDict, total=False):
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    text: Optional[str]


class _TemplatesCreateBody(TypedDict):
    name: str


class TemplatesCreateBody(_TemplatesCreateBody, total=False):
    kind: Literal["message", "layout", "partial"]
    """`layout`: html and text around others, with `{{ content }}` once. `partial`: for `{% render "alias" %}`."""
    alias: Optional[str]
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    """MJML, from which Postrider compiles `html`. Send one of the two."""
    text: Optional[str]
    layout: Optional[str]
    """Alias of the layout around `html` and `text`."""
    locales: Optional[Dict[str, Optional[TemplatesCreateBodyLocalesValue]]]
    """Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one."""
    sample: Dict[str, Any]
    """Values of variables for previews in the dashboard, at most 16 KiB of JSON. Messages never use them."""


class TemplatesListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    kind: Literal["message", "layout", "partial"]


class TemplatesGetQuery(TypedDict, total=False):
    version: str


class TemplatesUpdateBodyLocalesValue(TypedDict, total=False):
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    text: Optional[str]


class TemplatesUpdateBody(TypedDict, total=False):
    name: str
    alias: Optional[str]
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    """MJML, from which Postrider compiles `html`. Send one of the two."""
    text: Optional[str]
    layout: Optional[str]
    """Alias of the layout around `html` and `text`."""
    locales: Optional[Dict[str, Optional[TemplatesUpdateBodyLocalesValue]]]
    """Texts in other languages by locale: `{"de": {"subject": …, "html": …, "text": …}}`. Null removes one."""
    sample: Dict[str, Any]
    """Values of variables for previews in the dashboard, at most 16 KiB of JSON. Messages never use them."""


class TemplatesRenderBody(TypedDict, total=False):
    variables: Dict[str, Any]
    version: int
    locale: Optional[str]
    """Wanted language; without it, the default."""


class TemplatesPreviewBody(TypedDict, total=False):
    subject: Optional[str]
    html: Optional[str]
    mjml: Optional[str]
    """MJML, from which Postrider compiles `html`. Send one of the two."""
    text: Optional[str]
    layout: Optional[str]
    """Alias of the layout around `html` and `text`."""
    locale: Optional[str]
    """Wanted language; without it, the default."""
    variables: Dict[str, Any]


class TemplatesVersionsQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""


class _WebhooksCreateBody(TypedDict):
    url: str
    """Must use `https` and a public address."""
    events: List[EventType]


class WebhooksCreateBody(_WebhooksCreateBody, total=False):
    description: Optional[str]
    format: Literal["enveloped", "resend"]
    """`resend`: Resend’s payload and headers, for receivers built for Resend. Absent: `enveloped`."""
    headers: EndpointHeaders
    """Additional headers of every request, such as the key of an API gateway: at most 10, with values of up to 4
    KiB. Values are never shown again; `header_names` lists the names.
    """


class WebhooksListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class WebhooksUpdateBody(TypedDict, total=False):
    url: str
    """Must use `https` and a public address."""
    events: List[EventType]
    status: Literal["active", "paused"]
    description: Optional[str]
    headers: EndpointHeaders
    """Additional headers of every request, such as the key of an API gateway: at most 10, with values of up to 4
    KiB. Values are never shown again; `header_names` lists the names.
    """


class WebhooksTestBody(TypedDict):
    type: EventType


class WebhooksRotateSecretBody(TypedDict, total=False):
    grace_period_minutes: int
    """How long the old value stays valid."""


class WebhookDeliveriesListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    status: Literal["pending", "delivered", "failed"]
    type: EventType


_WebhooksReplayBodyNamed = TypedDict("_WebhooksReplayBodyNamed", {"from": 'Time'})


class WebhooksReplayBody(_WebhooksReplayBodyNamed, total=False):
    to: Time
    """Exclusive; the default is now."""
    type: EventType
    """Only events of this type."""


class WebhooksReplayAnswer(TypedDict):
    queued: int


class InboundRoutesCreateBodyMatch(TypedDict):
    type: Literal["address"]
    value: str


class InboundRoutesCreateBodyMatch2(TypedDict):
    type: Literal["pattern"]
    value: str


class InboundRoutesCreateBodyMatch3(TypedDict):
    type: Literal["domain"]
    value: str


class _InboundRoutesCreateBodyMatch4(TypedDict):
    type: Literal["catch_all"]


class InboundRoutesCreateBodyMatch4(_InboundRoutesCreateBodyMatch4, total=False):
    value: None


class _InboundRoutesCreateBodyActionConfig(TypedDict):
    url: str


class InboundRoutesCreateBodyActionConfig(_InboundRoutesCreateBodyActionConfig, total=False):
    include_attachments: bool
    headers: EndpointHeaders
    """Additional headers of every request, as for webhooks. Values are never shown again. Absent: those of the
    same scheme, host and port stay.
    """
    header_names: List[str]
    """Ignored, so that clients can send a record back."""


class InboundRoutesCreateBodyAction(TypedDict):
    type: Literal["webhook"]
    config: InboundRoutesCreateBodyActionConfig


class InboundRoutesCreateBodyAction2ConfigToItem(TypedDict):
    email: EmailAddress


class InboundRoutesCreateBodyAction2Config(TypedDict):
    to: Union[EmailAddress, List[Union[EmailAddress, InboundRoutesCreateBodyAction2ConfigToItem]]]


class InboundRoutesCreateBodyAction2(TypedDict):
    type: Literal["forward"]
    config: InboundRoutesCreateBodyAction2Config


class _InboundRoutesCreateBodyAction3(TypedDict):
    type: Literal["store"]


class InboundRoutesCreateBodyAction3(_InboundRoutesCreateBodyAction3, total=False):
    config: Dict[str, Any]


class _InboundRoutesCreateBody(TypedDict):
    name: str
    match: Union[InboundRoutesCreateBodyMatch, InboundRoutesCreateBodyMatch2, InboundRoutesCreateBodyMatch3, InboundRoutesCreateBodyMatch4]
    action: Union[InboundRoutesCreateBodyAction, InboundRoutesCreateBodyAction2, InboundRoutesCreateBodyAction3]


class InboundRoutesCreateBody(_InboundRoutesCreateBody, total=False):
    authentication: Literal["none", "dmarc", "require_pass"]
    enabled: bool
    priority: int


class InboundRoutesListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class InboundRoutesUpdateBodyMatch(TypedDict):
    type: Literal["address"]
    value: str


class InboundRoutesUpdateBodyMatch2(TypedDict):
    type: Literal["pattern"]
    value: str


class InboundRoutesUpdateBodyMatch3(TypedDict):
    type: Literal["domain"]
    value: str


class _InboundRoutesUpdateBodyMatch4(TypedDict):
    type: Literal["catch_all"]


class InboundRoutesUpdateBodyMatch4(_InboundRoutesUpdateBodyMatch4, total=False):
    value: None


class _InboundRoutesUpdateBodyActionConfig(TypedDict):
    url: str


class InboundRoutesUpdateBodyActionConfig(_InboundRoutesUpdateBodyActionConfig, total=False):
    include_attachments: bool
    headers: EndpointHeaders
    """Additional headers of every request, as for webhooks. Values are never shown again. Absent: those of the
    same scheme, host and port stay.
    """
    header_names: List[str]
    """Ignored, so that clients can send a record back."""


class InboundRoutesUpdateBodyAction(TypedDict):
    type: Literal["webhook"]
    config: InboundRoutesUpdateBodyActionConfig


class InboundRoutesUpdateBodyAction2ConfigToItem(TypedDict):
    email: EmailAddress


class InboundRoutesUpdateBodyAction2Config(TypedDict):
    to: Union[EmailAddress, List[Union[EmailAddress, InboundRoutesUpdateBodyAction2ConfigToItem]]]


class InboundRoutesUpdateBodyAction2(TypedDict):
    type: Literal["forward"]
    config: InboundRoutesUpdateBodyAction2Config


class _InboundRoutesUpdateBodyAction3(TypedDict):
    type: Literal["store"]


class InboundRoutesUpdateBodyAction3(_InboundRoutesUpdateBodyAction3, total=False):
    config: Dict[str, Any]


class InboundRoutesUpdateBody(TypedDict, total=False):
    name: str
    match: Union[InboundRoutesUpdateBodyMatch, InboundRoutesUpdateBodyMatch2, InboundRoutesUpdateBodyMatch3, InboundRoutesUpdateBodyMatch4]
    action: Union[InboundRoutesUpdateBodyAction, InboundRoutesUpdateBodyAction2, InboundRoutesUpdateBodyAction3]
    authentication: Literal["none", "dmarc", "require_pass"]
    enabled: bool
    priority: int


class InboundRoutesConfirmationsBody(TypedDict, total=False):
    email: EmailAddress
    """Absent: all pending targets."""


_InboundRoutesTestBodyMaybeNamed = TypedDict("_InboundRoutesTestBodyMaybeNamed", {"from": 'Union[EmailAddress, Literal[""]]'}, total=False)


class _InboundRoutesTestBody(_InboundRoutesTestBodyMaybeNamed):
    to: EmailAddress


class InboundRoutesTestBody(_InboundRoutesTestBody, total=False):
    subject: str


_InboundMessagesListQueryMaybeNamed = TypedDict("_InboundMessagesListQueryMaybeNamed", {"from": 'EmailAddress'}, total=False)


class InboundMessagesListQuery(_InboundMessagesListQueryMaybeNamed, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""
    route_id: str
    domain_id: str
    to: EmailAddress
    status: Literal["pending", "delivered", "failed"]
    q: str
    """Part of the address of the sender or of a recipient, among the newest 50,000 messages."""


class InboundMessagesDeliveriesAnswer(TypedDict):
    data: List[InboundDelivery]
    has_more: bool
    next_cursor: Optional[str]
    """Pass it as `cursor` to get the next page, even if this page has few entries. Null on the last page."""


class InvitationsCreateBody(TypedDict):
    email: EmailAddress
    role: Literal["owner", "admin", "developer", "support", "viewer"]
    """An API key cannot grant `owner`."""


class InvitationsListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class UsersListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


class UsersUpdateBody(TypedDict, total=False):
    role: Literal["owner", "admin", "developer", "support", "viewer"]
    """Role in the organization. An API key cannot grant `owner`, nor change users who have it."""
    email: EmailAddress
    """Only the operator changes it."""
    name: str
    """Only the operator and the user change it."""
    is_operator: bool
    """Only the operator changes it."""
    disabled: bool
    """Only the operator changes it. Disabling ends all sessions of the user at once."""


class UsersDeleteQuery(TypedDict, total=False):
    keys: Literal["revoke", "keep"]
    """What happens to the keys that the user made. Kept ones belong to the organization alone, with at most the
    rights of the last role of the user.
    """


class UsersSessionsListQuery(TypedDict, total=False):
    limit: int
    cursor: str
    """`next_cursor` of the previous page."""
    created_after: Time
    """Inclusive; ISO 8601."""
    created_before: Time
    """Exclusive; ISO 8601."""


EmailAddress = str
EndpointHeaders = Optional[Dict[str, str]]
Event = Union[MessageDeliveredEvent, MessageBouncedEvent, MessageDeferredEvent, MessageOpenedEvent, MessageClickedEvent, MessageUnsubscribedEvent, MessageComplainedEvent, QualityAlertEvent, MessageSuppressedEvent, MessageAcceptedEvent, MessageCancelledEvent, MessageExpiredEvent, InboundReceivedEvent, DomainVerifiedEvent, DomainFailedEvent, WebhookPausedEvent, SuppressionAddedEvent, SuppressionRemovedEvent]
EventType = Literal["message.delivered", "message.bounced", "message.deferred", "message.opened", "message.clicked", "message.unsubscribed", "message.complained", "quality.alert", "message.suppressed", "message.accepted", "message.cancelled", "message.expired", "inbound.received", "domain.verified", "domain.failed", "webhook.paused", "suppression.added", "suppression.removed"]
Mailbox = str
MessageHeaders = Dict[str, str]
Time = str
