<?php

// Generated from the OpenAPI document by scripts/client-types.ts.

declare(strict_types=1);

namespace Postrider;

/**
 * The types of requests and responses.
 *
 * @phpstan-type AcceptedMessage array{
 *     id: string,
 *     message_id: string,
 *     status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled'|'partial',
 *     created_at: string,
 *     scheduled_at?: string,
 *     recipients: list<array{
 *         email: string,
 *         type: 'to'|'cc'|'bcc',
 *         status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled',
 *     }>,
 * }
 * @phpstan-type AddressExplanation array{
 *     to: string,
 *     would_send: bool,
 *     explanation: list<string>,
 *     refused_with: 'domain_not_verified'|'invalid_state'|'quota_exceeded'|null,
 *     suppressions: list<Suppression>,
 *     mx_hosts: list<string>|null,
 *     tls_policy: 'none'|'mta_sts_testing'|'mta_sts'|'dane'|'required'|null,
 *     dns_problem: string|null,
 *     slots: array{
 *         limit: int,
 *         under_way: int,
 *     }|null,
 *     site: array{
 *         name: string,
 *         state: 'unknown'|'proven'|'troubled'|'paused',
 *         connections: int,
 *         max_connections: int,
 *         lowered_at: string|null,
 *         lowered_because: string|null,
 *         paused_until: string|null,
 *         sending_addresses: list<array{
 *             address: string,
 *             resting_until: string|null,
 *             resting_because: string|null,
 *             warmup?: array{
 *                 group: 'google'|'microsoft'|'yahoo'|'apple'|'others',
 *                 state: 'on_plan'|'held'|'stepped_back'|'finished',
 *                 day: int,
 *                 allowance: int|null,
 *                 waits_until: string|null,
 *             },
 *         }>,
 *     }|null,
 *     last_message: array{
 *         message_id: string,
 *         created_at: string,
 *         mode: 'live'|'test',
 *         status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled',
 *         attempts: int,
 *         last_attempt_at: string|null,
 *         next_attempt_at: string|null,
 *         smtp_response: string|null,
 *         meaning: string|null,
 *     }|null,
 * }
 * @phpstan-type Analysis array{
 *     score: int|float,
 *     verdict: 'good'|'warning'|'bad',
 *     issues: list<array{
 *         code: 'auth_domain_unverified'|'auth_dkim_missing'|'auth_dkim_mismatch'|'auth_spf_missing'|'auth_spf_mismatch'|'auth_return_path_missing'|'auth_dmarc_missing'|'auth_dmarc_none'|'auth_not_checked'|'from_no_reply'|'from_name_missing'|'from_name_address'|'from_name_capitals'|'reply_to_other_domain'|'reply_to_free_mail'|'header_high_priority'|'subject_missing'|'subject_short'|'subject_long'|'subject_capitals'|'subject_punctuation'|'subject_spam_phrase'|'subject_emoji'|'subject_fake_reply'|'subject_html'|'subject_blanks'|'content_empty'|'text_missing'|'text_empty'|'text_html_mismatch'|'content_spam_phrases'|'content_capitals'|'content_placeholder'|'content_hidden_text'|'content_invisible_colour'|'unsubscribe_missing'|'unsubscribe_link_dead'|'unsubscribe_header_missing'|'unsubscribe_link_missing'|'variables_unresolved'|'variables_undefined'|'html_unclosed_tag'|'html_misnested_tag'|'html_stray_close'|'html_cut_tag'|'html_self_closed'|'html_duplicate_attribute'|'html_doctype_missing'|'html_charset_missing'|'html_lang_missing'|'size_clipped'|'size_near_clip'|'size_large'|'size_not_read_whole'|'image_alt_missing'|'image_only'|'image_heavy'|'image_without_source'|'image_relative'|'image_insecure'|'image_data'|'image_cid_unknown'|'image_size_missing'|'image_tracking_pixel'|'remote_content'|'link_insecure'|'link_ip_host'|'link_local_host'|'link_shortener'|'link_text_mismatch'|'link_look_alike'|'link_credentials'|'link_scheme'|'link_empty'|'link_relative'|'link_invalid'|'link_without_text'|'link_vague_text'|'links_many'|'active_script'|'active_event_handler'|'active_frame'|'active_object'|'active_form'|'active_refresh'|'active_base'|'attachment_blocked'|'attachment_macros'|'attachment_html'|'attachment_archive'|'css_flexbox'|'css_grid'|'css_position'|'css_float'|'css_background_image'|'css_gradient'|'css_external_stylesheet'|'css_import'|'css_style_in_body'|'css_variables'|'css_web_font'|'css_media_query'|'css_supports'|'css_animation'|'css_transform'|'css_filter'|'css_shadow'|'css_border_radius'|'css_max_width'|'css_object_fit'|'css_functions'|'css_viewport_units'|'css_modern_colour'|'css_pseudo_element'|'css_attribute_selector'|'css_gap'|'html_video'|'html_audio'|'html_svg'|'html_svg_image'|'html_modern_image'|'html_picture'|'html_canvas'|'html_button'|'html_details'|'html_math',
 *         severity: 'error'|'warning'|'info',
 *         category: 'authentication'|'addresses'|'subject'|'content'|'variables'|'html'|'size'|'images'|'links'|'active'|'clients'|'attachments',
 *         message: string,
 *         field: string,
 *         penalty: int|float,
 *     }>,
 *     stats: array{
 *         size_bytes: int,
 *         subject_characters: int,
 *         html_bytes: int,
 *         text_bytes: int,
 *         words: int,
 *         links: int,
 *         images: int,
 *         remote_images: int,
 *         attachments: int,
 *         image_text_ratio: int|float,
 *     },
 *     links: list<array{
 *         url: string,
 *         text: string,
 *         problems: list<'link_insecure'|'link_ip_host'|'link_local_host'|'link_shortener'|'link_text_mismatch'|'link_look_alike'|'link_credentials'|'link_scheme'|'link_empty'|'link_relative'|'link_invalid'|'link_without_text'|'link_vague_text'>,
 *     }>,
 *     rendered: array{
 *         subject: string|null,
 *         html: string|null,
 *         text: string|null,
 *     },
 * }
 * @phpstan-type ApiKey array{
 *     id: string,
 *     name: string,
 *     domain_id: string,
 *     domain: string|null,
 *     mode: 'live'|'test',
 *     permissions: list<'send'|'read'|'manage'|'admin'>,
 *     prefix: string,
 *     created_at: string,
 *     last_used_at: string|null,
 *     expires_at: string|null,
 *     revoked_at: string|null,
 *     rotated_to: string|null,
 *     allowed_networks: list<string>|null,
 *     created_by: string|null,
 * }
 * @phpstan-type Attachment array{
 *     filename: string,
 *     content: string,
 *     content_type?: string|null,
 *     content_id?: string|null,
 *     url?: null,
 * }
 * @phpstan-type Attempt array{
 *     recipient: string,
 *     number: int,
 *     started_at: string,
 *     duration_ms: int|float,
 *     outcome: 'delivered'|'deferred'|'bounced'|'unknown',
 *     mx_host: string|null,
 *     mx_ip: string|null,
 *     source_ip: string|null,
 *     relay: array{
 *         name: string,
 *         rule: int|null,
 *         because: 'rule'|'address_blocked'|'port_25_blocked'|'direct_failing'|'warmup_used_up'|'same_route',
 *     }|null,
 *     tls_version: string|null,
 *     tls_cipher: string|null,
 *     tls_verified: bool,
 *     tls_policy: 'none'|'mta_sts_testing'|'mta_sts'|'dane'|'required',
 *     smtp_response: string|null,
 *     enhanced_code: string|null,
 *     cause: array{
 *         class: string,
 *         rule: string,
 *     }|null,
 *     transcript: string,
 * }
 * @phpstan-type AuditEntry array{
 *     id: string,
 *     created_at: string,
 *     actor: array{
 *         type: 'api_key'|'user'|'operator'|'server',
 *         id: string,
 *         name: string,
 *     },
 *     action: string,
 *     resource_id: string|null,
 *     created_id: string|null,
 *     fields: list<string>,
 *     ip_address: string|null,
 *     outcome: string,
 *     request_id: string,
 * }
 * @phpstan-type Billing array{
 *     organization_id: string,
 *     plan: string,
 *     limits: Limits|null,
 *     usage: array{
 *         month: string,
 *         messages: int,
 *         test_messages: int,
 *         domains: int,
 *         webhooks: int,
 *         inbound_routes: int,
 *         templates: int,
 *         api_keys: int,
 *         scheduled_messages: int,
 *         stored_bytes: int,
 *         suppressions: int,
 *         resets_at: string,
 *         day: string,
 *         forwards: int,
 *         day_resets_at: string,
 *     },
 *     dedicated_addresses: list<string>,
 *     past_months: list<array{
 *         month: string,
 *         messages: int,
 *     }>,
 *     self_service_plans: list<array{
 *         plan: string,
 *         limits: Limits|null,
 *     }>,
 * }
 * @phpstan-type Calendar array{
 *     content: string,
 *     method?: 'PUBLISH'|'REQUEST'|'REPLY'|'ADD'|'CANCEL'|'REFRESH'|'COUNTER'|'DECLINECOUNTER'|null,
 * }
 * @phpstan-type CreatedApiKey array{
 *     id: string,
 *     name: string,
 *     domain_id: string,
 *     domain: string|null,
 *     mode: 'live'|'test',
 *     permissions: list<'send'|'read'|'manage'|'admin'>,
 *     prefix: string,
 *     created_at: string,
 *     last_used_at: string|null,
 *     expires_at: string|null,
 *     revoked_at: string|null,
 *     rotated_to: string|null,
 *     allowed_networks: list<string>|null,
 *     created_by: string|null,
 *     key: string,
 * }
 * @phpstan-type CreatedInboundRoute array{
 *     id: string,
 *     name: string,
 *     match: array{
 *         type: 'address'|'domain'|'pattern'|'catch_all',
 *         value: string|null,
 *     },
 *     domain: string|null,
 *     action: array{
 *         type: 'webhook',
 *         config: array{
 *             url: string,
 *             include_attachments: bool,
 *             header_names: list<string>,
 *         },
 *     }|array{
 *         type: 'forward',
 *         config: array{
 *             to: list<ForwardTarget>,
 *         },
 *     }|array{
 *         type: 'store',
 *         config: array<string, mixed>,
 *     },
 *     authentication: 'none'|'dmarc'|'require_pass',
 *     enabled: bool,
 *     priority: int,
 *     created_at: string,
 *     secret: string,
 * }
 * @phpstan-type CreatedInvitation array{
 *     id: string,
 *     email: string,
 *     role: 'owner'|'admin'|'developer'|'support'|'viewer',
 *     invited_by: string,
 *     created_at: string,
 *     expires_at: string,
 *     url: string|null,
 *     mail_queued: bool,
 *     mail_reason: 'not_configured'|'single_sign_on_only'|'domain_not_verified'|'sending_paused'|'no_address'|'received_here'|'suppressed'|'limit_reached'|null,
 * }
 * @phpstan-type CreatedWebhook array{
 *     id: string,
 *     url: string,
 *     events: list<EventType>,
 *     format: 'enveloped'|'resend',
 *     status: 'active'|'paused',
 *     mode: 'live'|'test',
 *     domain_id: string|null,
 *     description: string|null,
 *     header_names: list<string>,
 *     disabled_reason: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     last_success_at: string|null,
 *     last_failure_at: string|null,
 *     consecutive_failures: int,
 *     secret: string,
 * }
 * @phpstan-type Deletion array{
 *     id: string,
 *     deleted: true,
 * }
 * @phpstan-type DmarcSources array{
 *     data: list<array{
 *         source_ip: string,
 *         ptr: string|null,
 *         provider: string|null,
 *         messages: int,
 *         spf_aligned: int,
 *         dkim_aligned: int,
 *         disposition: array{
 *             none: int,
 *             quarantine: int,
 *             reject: int,
 *         },
 *         reporters: list<string>,
 *         first_seen: string,
 *         last_seen: string,
 *         kind: 'ours'|'known'|'unknown',
 *     }>,
 *     totals: array{
 *         messages: int,
 *         spf_aligned: int,
 *         dkim_aligned: int,
 *         disposition: array{
 *             none: int,
 *             quarantine: int,
 *             reject: int,
 *         },
 *         passed: int,
 *         claimed: int,
 *         reports: int,
 *         sources: int,
 *         reporters: int,
 *         days: int,
 *     },
 *     unknown_reporters: list<array{
 *         reporter: string,
 *         reports: int,
 *         messages: int,
 *     }>,
 *     advice: array{
 *         policy: 'none'|'quarantine'|'reject',
 *         text: string,
 *     },
 * }
 * @phpstan-type DnsHost array{
 *     name: string|null,
 *     console_url: string|null,
 *     advice: string|null,
 * }
 * @phpstan-type Domain array{
 *     id: string,
 *     name: string,
 *     status: 'pending'|'verified'|'failed',
 *     detail: string|null,
 *     proved_by: 'dkim'|'txt'|null,
 *     proof_missing_since: string|null,
 *     created_at: string,
 *     verified_at: string|null,
 *     last_checked_at: string|null,
 *     dkim: list<array{
 *         selector: string,
 *         algorithm: 'rsa-sha256'|'ed25519-sha256',
 *         state: 'pending'|'active'|'retiring',
 *         created_at: string,
 *     }>,
 *     next_dkim_rotation_at: string|null,
 *     return_path_host: string,
 *     tracking: array{
 *         opens: bool,
 *         clicks: bool,
 *         unsubscribe: bool,
 *         host: string|null,
 *     },
 *     dns_records: list<array{
 *         purpose: 'dkim'|'dkim_standby'|'ownership'|'spf'|'dmarc'|'return_path'|'mx'|'tls_rpt'|'tracking'|'mta_sts'|'mta_sts_host',
 *         type: 'TXT'|'MX'|'CNAME',
 *         name: string,
 *         value: string,
 *         priority: int|null,
 *         required: bool,
 *         status: 'pending'|'valid'|'missing'|'mismatch',
 *         found: list<string>,
 *     }>,
 * }
 * @phpstan-type DomainFailedEvent array{
 *     id: string,
 *     type: 'domain.failed',
 *     timestamp: string,
 *     data: array{
 *         domain_id: string,
 *         domain: string,
 *         failed_at: string,
 *         reason: 'mismatch'|'proof_lost'|'claimed',
 *         test?: true,
 *     },
 * }
 * @phpstan-type DomainVerifiedEvent array{
 *     id: string,
 *     type: 'domain.verified',
 *     timestamp: string,
 *     data: array{
 *         domain_id: string,
 *         domain: string,
 *         verified_at: string,
 *         proved_by: 'dkim'|'txt',
 *         test?: true,
 *     },
 * }
 * @phpstan-type EmailAddress string
 * @phpstan-type EndpointHeaders array<string, string>|null
 * @phpstan-type Erasure array{
 *     id: string,
 *     status: 'running'|'done',
 *     address_hash: string,
 *     created_at: string,
 *     finished_at: string|null,
 *     removed: array{
 *         messages: int,
 *         shared_messages: int,
 *         events: int,
 *         inbound_messages: int,
 *         responses: int,
 *         suppressions: int,
 *     },
 *     remaining: list<array{
 *         type: 'user'|'invitation'|'inbound_route'|'forward_target',
 *         id: string|null,
 *     }>,
 * }
 * @phpstan-type ApiError array{
 *     error: array{
 *         code: 'validation_error'|'unauthorized'|'forbidden'|'not_found'|'method_not_allowed'|'request_timeout'|'conflict'|'payload_too_large'|'domain_not_verified'|'template_error'|'quota_exceeded'|'invalid_state'|'rate_limited'|'internal_error'|'unavailable',
 *         message: string,
 *         field?: string,
 *         details: array{
 *             request_id: string,
 *             ...
 *         },
 *         errors?: list<array{
 *             field: string,
 *             message: string,
 *         }>,
 *         retry_after?: int,
 *     },
 * }
 * @phpstan-type Event MessageDeliveredEvent|MessageBouncedEvent|MessageDeferredEvent|MessageOpenedEvent|MessageClickedEvent|MessageUnsubscribedEvent|MessageComplainedEvent|QualityAlertEvent|MessageSuppressedEvent|MessageAcceptedEvent|MessageCancelledEvent|MessageExpiredEvent|InboundReceivedEvent|DomainVerifiedEvent|DomainFailedEvent|WebhookPausedEvent|SuppressionAddedEvent|SuppressionRemovedEvent
 * @phpstan-type EventType 'message.delivered'|'message.bounced'|'message.deferred'|'message.opened'|'message.clicked'|'message.unsubscribed'|'message.complained'|'quality.alert'|'message.suppressed'|'message.accepted'|'message.cancelled'|'message.expired'|'inbound.received'|'domain.verified'|'domain.failed'|'webhook.paused'|'suppression.added'|'suppression.removed'
 * @phpstan-type ForwardConfirmations array{
 *     data: list<array{
 *         email: string,
 *         status: 'pending'|'confirmed',
 *         sent: bool,
 *         reason: 'too_many'|'stopped'|'suppressed'|'received_here'|null,
 *         url: string|null,
 *     }>,
 * }
 * @phpstan-type ForwardTarget array{
 *     email: string,
 *     status: 'pending'|'confirmed',
 *     is_stopped: bool,
 * }
 * @phpstan-type InboundDelivery array{
 *     id: string,
 *     inbound_message_id: string,
 *     route_id: string,
 *     status: 'pending'|'delivered'|'failed',
 *     attempts: list<PostAttempt>,
 *     next_attempt_at: string|null,
 *     created_at: string,
 * }
 * @phpstan-type InboundMessage array{
 *     id: string,
 *     route_id: string|null,
 *     domain_id: string,
 *     action: 'webhook'|'forward'|'store',
 *     status: 'pending'|'delivered'|'failed'|'stored',
 *     from: string,
 *     to: list<string>,
 *     subject: string,
 *     message_id: string,
 *     return_path: string,
 *     sender_ip: string,
 *     helo: string,
 *     tls: string|null,
 *     size_bytes: int,
 *     spf_result: 'none'|'neutral'|'pass'|'fail'|'softfail'|'temperror'|'permerror'|'policy',
 *     dkim_result: 'none'|'pass'|'fail'|'policy'|'neutral'|'temperror'|'permerror',
 *     dmarc_result: 'none'|'pass'|'fail'|'temperror'|'permerror',
 *     arc_result: 'none'|'pass'|'fail',
 *     parse_error: string|null,
 *     forwarded_as: string|null,
 *     not_forwarded: list<array{
 *         email: string,
 *         reason: 'pending_confirmation'|'stopped'|'domain_not_verified',
 *     }>,
 *     created_at: string,
 * }
 * @phpstan-type InboundReceived array{
 *     event: 'inbound',
 *     timestamp: string,
 *     from: string,
 *     to: list<string>,
 *     subject: string,
 *     message_id: string,
 *     text_body: string,
 *     html_body: string,
 *     headers: array<string, string>,
 *     attachments: list<array{
 *         filename: string,
 *         content_type: string,
 *         size: int,
 *     }>,
 *     attachments_data?: list<array{
 *         filename: string,
 *         content_type: string,
 *         content: string,
 *     }>,
 *     spf_result: 'none'|'neutral'|'pass'|'fail'|'softfail'|'temperror'|'permerror'|'policy',
 *     dkim_result: 'none'|'pass'|'fail'|'policy'|'neutral'|'temperror'|'permerror',
 *     dmarc_result: 'none'|'pass'|'fail'|'temperror'|'permerror',
 *     sender_ip: string,
 * }
 * @phpstan-type InboundReceivedEvent array{
 *     id: string,
 *     type: 'inbound.received',
 *     timestamp: string,
 *     data: array{
 *         inbound_message_id: string,
 *         route_id: string|null,
 *         domain_id: string,
 *         from: string,
 *         to: list<string>,
 *         subject: string,
 *         message_id_header: string,
 *         size_bytes: int,
 *         received_at: string,
 *         spf_result: string,
 *         dkim_result: string,
 *         dmarc_result: string,
 *         attachments: list<array{
 *             filename: string,
 *             content_type: string,
 *             size: int,
 *             content_id?: string|null,
 *         }>,
 *         attachment_count: int,
 *         test?: true,
 *     },
 * }
 * @phpstan-type InboundRoute array{
 *     id: string,
 *     name: string,
 *     match: array{
 *         type: 'address'|'domain'|'pattern'|'catch_all',
 *         value: string|null,
 *     },
 *     domain: string|null,
 *     action: array{
 *         type: 'webhook',
 *         config: array{
 *             url: string,
 *             include_attachments: bool,
 *             header_names: list<string>,
 *         },
 *     }|array{
 *         type: 'forward',
 *         config: array{
 *             to: list<ForwardTarget>,
 *         },
 *     }|array{
 *         type: 'store',
 *         config: array<string, mixed>,
 *     },
 *     authentication: 'none'|'dmarc'|'require_pass',
 *     enabled: bool,
 *     priority: int,
 *     created_at: string,
 * }
 * @phpstan-type InboundRouteTest array{
 *     taken_by: InboundRoute|null,
 *     takes: bool,
 *     by: 'address'|'domain'|'pattern'|'catch_all'|null,
 *     via_bare_address: bool,
 *     reason: string,
 *     considered: list<array{
 *         id: string,
 *         name: string,
 *         matches: bool,
 *         reason: string,
 *     }>,
 * }
 * @phpstan-type Invitation array{
 *     id: string,
 *     email: string,
 *     role: 'owner'|'admin'|'developer'|'support'|'viewer',
 *     invited_by: string,
 *     created_at: string,
 *     expires_at: string,
 * }
 * @phpstan-type Limits array{
 *     requests_per_minute: int,
 *     messages_per_month: int,
 *     domains: int,
 *     retention_days: int,
 *     webhooks: int,
 *     inbound_routes: int,
 *     templates: int,
 *     template_versions: int,
 *     api_keys: int,
 *     scheduled_messages: int,
 *     stored_bytes: int,
 *     test_messages_per_month: int,
 *     forwards_per_day: int,
 *     suppressions: int,
 *     dedicated_address: bool,
 * }
 * @phpstan-type ListedTemplate array{
 *     id: string,
 *     alias: string|null,
 *     name: string,
 *     mode: 'live'|'test',
 *     kind: 'message'|'layout'|'partial',
 *     subject: string|null,
 *     variables: list<string>,
 *     version: int,
 *     created_at: string,
 *     updated_at: string,
 * }
 * @phpstan-type ListedTemplateVersion array{
 *     version: int,
 *     subject: string|null,
 *     variables: list<string>,
 *     created_at: string,
 * }
 * @phpstan-type Mailbox string
 * @phpstan-type Message array{
 *     id: string,
 *     mode: 'live'|'test',
 *     status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled'|'partial',
 *     from: string,
 *     to: string|list<string>|null,
 *     cc: string|list<string>|null,
 *     bcc: string|list<string>|null,
 *     reply_to: string|list<string>|null,
 *     subject: string,
 *     tags: list<string>,
 *     metadata: array<string, string|int|float|bool>,
 *     template_id: string|null,
 *     domain_id: string,
 *     size_bytes: int,
 *     message_id_header: string,
 *     created_at: string,
 *     scheduled_at: string|null,
 *     source: 'api'|'smtp',
 *     stream: string,
 *     recipients: list<Recipient>,
 * }
 * @phpstan-type MessageAcceptedEvent array{
 *     id: string,
 *     type: 'message.accepted',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         accepted_at: string,
 *         scheduled_at: string|null,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageBouncedEvent array{
 *     id: string,
 *     type: 'message.bounced',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         bounce_type: 'hard'|'soft',
 *         bounce_code: string,
 *         bounce_message: string,
 *         bounced_at: string,
 *         will_retry: bool,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageCancelledEvent array{
 *     id: string,
 *     type: 'message.cancelled',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         cancelled_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageClickedEvent array{
 *     id: string,
 *     type: 'message.clicked',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         clicked_at: string,
 *         url: string,
 *         user_agent: string|null,
 *         ip_address: string|null,
 *         machine: bool,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageComplainedEvent array{
 *     id: string,
 *     type: 'message.complained',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         complained_at: string,
 *         feedback_type: string|null,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageContent array{
 *     id: string,
 *     unsubscribe: bool,
 *     subject: string,
 *     html: string|null,
 *     text: string|null,
 *     headers: array<string, string>,
 *     attachments: list<array{
 *         filename: string,
 *         content_type: string,
 *         content_id: string|null,
 *         size_bytes: int,
 *     }>,
 * }
 * @phpstan-type MessageDeferredEvent array{
 *     id: string,
 *     type: 'message.deferred',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         deferred_at: string,
 *         attempt: int,
 *         next_attempt_at: string|null,
 *         smtp_response: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageDeliveredEvent array{
 *     id: string,
 *     type: 'message.delivered',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         delivered_at: string,
 *         smtp_response: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageExpiredEvent array{
 *     id: string,
 *     type: 'message.expired',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         expired_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageExplanation array{
 *     message_id: string,
 *     status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled'|'partial',
 *     mode: 'live'|'test',
 *     recipients: list<array{
 *         email: string,
 *         type: 'to'|'cc'|'bcc',
 *         explanation: list<string>,
 *         status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled',
 *         attempts: int,
 *         last_attempt_at: string|null,
 *         next_attempt_at: string|null,
 *         smtp_response: string|null,
 *         meaning: string|null,
 *         bounce_class: string|null,
 *         rule: string|null,
 *         suppressions: list<Suppression>,
 *         mx_hosts: list<string>|null,
 *         tls_policy: 'none'|'mta_sts_testing'|'mta_sts'|'dane'|'required'|null,
 *         dns_problem: string|null,
 *         slots: array{
 *             limit: int,
 *             under_way: int,
 *         }|null,
 *         site: array{
 *             name: string,
 *             state: 'unknown'|'proven'|'troubled'|'paused',
 *             connections: int,
 *             max_connections: int,
 *             lowered_at: string|null,
 *             lowered_because: string|null,
 *             paused_until: string|null,
 *             sending_addresses: list<array{
 *                 address: string,
 *                 resting_until: string|null,
 *                 resting_because: string|null,
 *                 warmup?: array{
 *                     group: 'google'|'microsoft'|'yahoo'|'apple'|'others',
 *                     state: 'on_plan'|'held'|'stepped_back'|'finished',
 *                     day: int,
 *                     allowance: int|null,
 *                     waits_until: string|null,
 *                 },
 *             }>,
 *         }|null,
 *     }>,
 * }
 * @phpstan-type MessageHeaders array<string, string>
 * @phpstan-type MessageOpenedEvent array{
 *     id: string,
 *     type: 'message.opened',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         opened_at: string,
 *         user_agent: string|null,
 *         ip_address: string|null,
 *         machine: bool,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageSuppressedEvent array{
 *     id: string,
 *     type: 'message.suppressed',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         suppressed_at: string,
 *         reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *         suppression_stream: string|null,
 *         test?: true,
 *     },
 * }
 * @phpstan-type MessageUnsubscribedEvent array{
 *     id: string,
 *     type: 'message.unsubscribed',
 *     timestamp: string,
 *     data: array{
 *         message_id: string,
 *         from: string,
 *         to: string,
 *         subject: string,
 *         metadata: array<string, string|int|float|bool>,
 *         tags: list<string>,
 *         mode: 'live'|'test',
 *         stream?: string,
 *         unsubscribed_at: string,
 *         method: 'one_click'|'link'|'mailto',
 *         user_agent: string|null,
 *         ip_address: string|null,
 *         test?: true,
 *     },
 * }
 * @phpstan-type PostAttempt array{
 *     number: int,
 *     at: string,
 *     duration_ms: int|float,
 *     status_code: int|null,
 *     error: string|null,
 *     response_excerpt: string|null,
 * }
 * @phpstan-type Quality array{
 *     domain_id: string,
 *     domain: string,
 *     sent: int,
 *     hard_bounced: int,
 *     delivered: int,
 *     complained: int,
 *     bounce_rate: int|float,
 *     complaint_rate: int|float,
 *     thresholds: array{
 *         bounce_rate: int|float,
 *         complaint_rate: int|float,
 *         min_sent: int,
 *     },
 *     window_hours: int|float,
 *     sending_stopped: bool,
 *     alerts: list<QualityAlert>,
 * }
 * @phpstan-type QualityAlert array{
 *     alert_id: string,
 *     metric: 'bounce_rate'|'complaint_rate',
 *     value: int|float,
 *     threshold: int|float,
 *     window_hours: int|float,
 *     sent: int,
 *     affected: int,
 *     state: 'firing'|'resolved',
 *     triggered_at: string,
 *     resolved_at: string|null,
 * }
 * @phpstan-type QualityAlertEvent array{
 *     id: string,
 *     type: 'quality.alert',
 *     timestamp: string,
 *     data: array{
 *         alert_id: string,
 *         domain_id: string,
 *         domain: string,
 *         metric: 'bounce_rate'|'complaint_rate',
 *         value: int|float,
 *         threshold: int|float,
 *         window_hours: int|float,
 *         sent: int,
 *         affected: int,
 *         state: 'firing'|'resolved',
 *         triggered_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type Recipient array{
 *     email: string,
 *     type: 'to'|'cc'|'bcc',
 *     status: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled',
 *     attempts: int,
 *     last_attempt_at: string|null,
 *     next_attempt_at: string|null,
 *     delivered_at: string|null,
 *     smtp_response: string|null,
 *     bounce_type: 'hard'|'soft'|null,
 *     bounce_code: string|null,
 *     mx_host: string|null,
 *     tls: string|null,
 *     opens: int,
 *     clicks: int,
 *     machine_opens: int,
 *     machine_clicks: int,
 * }
 * @phpstan-type RemoteAttachment array{
 *     url: string,
 *     filename?: string|null,
 *     content?: null,
 *     content_type?: string|null,
 *     content_id?: string|null,
 * }
 * @phpstan-type RenderedTemplate array{
 *     subject: string|null,
 *     html: string|null,
 *     text: string|null,
 * }
 * @phpstan-type Report array{
 *     email: string,
 *     kind: 'failed'|'delayed'|'delivered'|'relayed'|'expanded'|'complaint'|'unsubscribe'|'auto_reply'|'other',
 *     received_at: string,
 *     reporter: string|null,
 *     status: string|null,
 *     diagnostic: string|null,
 *     bounce_class: string|null,
 *     rule: string|null,
 *     feedback_type: string|null,
 * }
 * @phpstan-type RotatedApiKey array{
 *     id: string,
 *     name: string,
 *     domain_id: string,
 *     domain: string|null,
 *     mode: 'live'|'test',
 *     permissions: list<'send'|'read'|'manage'|'admin'>,
 *     prefix: string,
 *     created_at: string,
 *     last_used_at: string|null,
 *     expires_at: string|null,
 *     revoked_at: string|null,
 *     rotated_to: string|null,
 *     allowed_networks: list<string>|null,
 *     created_by: string|null,
 *     key: string,
 *     previous: array{
 *         id: string,
 *         expires_at: string,
 *     },
 * }
 * @phpstan-type SendMessage array{
 *     from: Mailbox,
 *     to: Mailbox|list<Mailbox>,
 *     cc?: Mailbox|list<Mailbox>|null,
 *     bcc?: Mailbox|list<Mailbox>|null,
 *     reply_to?: Mailbox|list<Mailbox>|null,
 *     subject?: string|null,
 *     html?: string|null,
 *     text?: string|null,
 *     template_id?: string|null,
 *     variables?: array<string, mixed>|null,
 *     locale?: string|null,
 *     headers?: MessageHeaders|null,
 *     attachments?: list<Attachment|RemoteAttachment>|null,
 *     calendar?: Calendar|null,
 *     metadata?: array<string, string|int|float|bool>|null,
 *     tags?: list<string>|null,
 *     scheduled_at?: Time|null,
 *     expires_in?: int|null,
 *     stream?: string|null,
 *     require_tls?: bool|null,
 *     track_opens?: bool|null,
 *     track_clicks?: bool|null,
 *     unsubscribe?: bool|null,
 * }
 * @phpstan-type Session array{
 *     id: string,
 *     user_id: string,
 *     created_at: string,
 *     last_seen_at: string,
 *     ends_at: string,
 *     ip_address: string|null,
 *     user_agent: string,
 * }
 * @phpstan-type Stats array{
 *     data: list<array{
 *         period_start: string,
 *         accepted: int,
 *         delivered: int,
 *         deferred: int,
 *         bounced: int,
 *         hard_bounced: int,
 *         soft_bounced: int,
 *         opened: int,
 *         unique_opened: int,
 *         clicked: int,
 *         unique_clicked: int,
 *         unsubscribed: int,
 *         complained: int,
 *         suppressed: int,
 *     }>,
 *     totals: array{
 *         accepted: int,
 *         delivered: int,
 *         deferred: int,
 *         bounced: int,
 *         hard_bounced: int,
 *         soft_bounced: int,
 *         opened: int,
 *         unique_opened: int,
 *         clicked: int,
 *         unique_clicked: int,
 *         unsubscribed: int,
 *         complained: int,
 *         suppressed: int,
 *         delivery_rate: int|float,
 *         bounce_rate: int|float,
 *         complaint_rate: int|float,
 *         open_rate: int|float,
 *         click_rate: int|float,
 *     },
 *     groups?: list<array{
 *         key: string,
 *         name: string|null,
 *         accepted: int,
 *         delivered: int,
 *         deferred: int,
 *         bounced: int,
 *         hard_bounced: int,
 *         soft_bounced: int,
 *         opened: int,
 *         unique_opened: int,
 *         clicked: int,
 *         unique_clicked: int,
 *         unsubscribed: int,
 *         complained: int,
 *         suppressed: int,
 *         delivery_rate: int|float,
 *         bounce_rate: int|float,
 *         complaint_rate: int|float,
 *         open_rate: int|float,
 *         click_rate: int|float,
 *     }>,
 *     other?: array{
 *         accepted: int,
 *         delivered: int,
 *         deferred: int,
 *         bounced: int,
 *         hard_bounced: int,
 *         soft_bounced: int,
 *         opened: int,
 *         unique_opened: int,
 *         clicked: int,
 *         unique_clicked: int,
 *         unsubscribed: int,
 *         complained: int,
 *         suppressed: int,
 *         delivery_rate: int|float,
 *         bounce_rate: int|float,
 *         complaint_rate: int|float,
 *         open_rate: int|float,
 *         click_rate: int|float,
 *     }|null,
 * }
 * @phpstan-type Suppression array{
 *     id: string,
 *     email: string,
 *     reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *     domain_id: string|null,
 *     stream: string|null,
 *     message_id: string|null,
 *     created_at: string,
 *     evidence: string|null,
 *     mode: 'live'|'test',
 * }
 * @phpstan-type SuppressionAddedEvent array{
 *     id: string,
 *     type: 'suppression.added',
 *     timestamp: string,
 *     data: array{
 *         suppression_id: string,
 *         email: string,
 *         reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *         domain_id: string|null,
 *         stream: string|null,
 *         message_id: string|null,
 *         mode: 'live'|'test',
 *         added_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type SuppressionImport array{
 *     added: int,
 *     already_there: int,
 *     passed_over: int,
 *     bad: int,
 *     dry_run: bool,
 *     errors: list<array{
 *         number: int,
 *         message: string,
 *     }>,
 *     errors_left_out: int,
 * }
 * @phpstan-type SuppressionRemovedEvent array{
 *     id: string,
 *     type: 'suppression.removed',
 *     timestamp: string,
 *     data: array{
 *         suppression_id: string,
 *         email: string,
 *         reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *         domain_id: string|null,
 *         stream: string|null,
 *         message_id: string|null,
 *         mode: 'live'|'test',
 *         removed_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type Template array{
 *     id: string,
 *     alias: string|null,
 *     name: string,
 *     mode: 'live'|'test',
 *     kind: 'message'|'layout'|'partial',
 *     subject: string|null,
 *     html: string|null,
 *     mjml: string|null,
 *     text: string|null,
 *     layout: string|null,
 *     locales: array<string, array{
 *         subject: string|null,
 *         html: string|null,
 *         mjml: string|null,
 *         text: string|null,
 *         variables: list<string>,
 *     }>,
 *     variables: list<string>,
 *     sample: array<string, mixed>,
 *     version: int,
 *     created_at: string,
 *     updated_at: string,
 * }
 * @phpstan-type TemplatePreview array{
 *     subject: string|null,
 *     html: string|null,
 *     text: string|null,
 *     variables: list<string>,
 *     missing: list<string>,
 * }
 * @phpstan-type Time string
 * @phpstan-type TlsResults array{
 *     data: list<array{
 *         policy: string,
 *         result: string,
 *         mx_host: string|null,
 *         sessions: int,
 *         reporters: list<string>,
 *         first_seen: string,
 *         last_seen: string,
 *     }>,
 *     totals: array{
 *         reports: int,
 *         successful: int,
 *         failed: int,
 *     },
 * }
 * @phpstan-type Usage array{
 *     organization_id: string,
 *     plan: string,
 *     limits: Limits|null,
 *     usage: array{
 *         month: string,
 *         messages: int,
 *         test_messages: int,
 *         domains: int,
 *         webhooks: int,
 *         inbound_routes: int,
 *         templates: int,
 *         api_keys: int,
 *         scheduled_messages: int,
 *         stored_bytes: int,
 *         suppressions: int,
 *         resets_at: string,
 *         day: string,
 *         forwards: int,
 *         day_resets_at: string,
 *     },
 *     dedicated_addresses: list<string>,
 * }
 * @phpstan-type User array{
 *     id: string,
 *     email: string|null,
 *     email_verified_at: string|null,
 *     name: string,
 *     is_operator: bool,
 *     roles: list<array{
 *         organization_id: string,
 *         role: 'owner'|'admin'|'developer'|'support'|'viewer',
 *     }>,
 *     awaiting: array{
 *         is_operator: bool,
 *         roles: list<array{
 *             organization_id: string,
 *             role: 'owner'|'admin'|'developer'|'support'|'viewer',
 *         }>,
 *     },
 *     created_at: string,
 *     last_seen_at: string|null,
 *     disabled_at: string|null,
 * }
 * @phpstan-type Webhook array{
 *     id: string,
 *     url: string,
 *     events: list<EventType>,
 *     format: 'enveloped'|'resend',
 *     status: 'active'|'paused',
 *     mode: 'live'|'test',
 *     domain_id: string|null,
 *     description: string|null,
 *     header_names: list<string>,
 *     disabled_reason: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     last_success_at: string|null,
 *     last_failure_at: string|null,
 *     consecutive_failures: int,
 * }
 * @phpstan-type WebhookDelivery array{
 *     id: string,
 *     webhook_id: string,
 *     event_id: string,
 *     type: EventType,
 *     status: 'pending'|'delivered'|'failed',
 *     attempts: list<PostAttempt>,
 *     next_attempt_at: string|null,
 *     created_at: string,
 * }
 * @phpstan-type WebhookDeliveryWithRequest array{
 *     id: string,
 *     webhook_id: string,
 *     event_id: string,
 *     type: EventType,
 *     status: 'pending'|'delivered'|'failed',
 *     attempts: list<PostAttempt>,
 *     next_attempt_at: string|null,
 *     created_at: string,
 *     request: array{
 *         headers: array<string, string>,
 *         body: string,
 *     }|null,
 * }
 * @phpstan-type WebhookPausedEvent array{
 *     id: string,
 *     type: 'webhook.paused',
 *     timestamp: string,
 *     data: array{
 *         webhook_id: string,
 *         url: string,
 *         reason: string|null,
 *         mode: 'live'|'test',
 *         paused_at: string,
 *         test?: true,
 *     },
 * }
 * @phpstan-type WebhookWithNewSecret array{
 *     id: string,
 *     url: string,
 *     events: list<EventType>,
 *     format: 'enveloped'|'resend',
 *     status: 'active'|'paused',
 *     mode: 'live'|'test',
 *     domain_id: string|null,
 *     description: string|null,
 *     header_names: list<string>,
 *     disabled_reason: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     last_success_at: string|null,
 *     last_failure_at: string|null,
 *     consecutive_failures: int,
 *     secret: string,
 *     previous_secret_expires_at: string,
 * }
 * @phpstan-type WholeInboundMessage array{
 *     id: string,
 *     route_id: string|null,
 *     domain_id: string,
 *     action: 'webhook'|'forward'|'store',
 *     status: 'pending'|'delivered'|'failed'|'stored',
 *     from: string,
 *     to: list<string>,
 *     subject: string,
 *     message_id: string,
 *     return_path: string,
 *     sender_ip: string,
 *     helo: string,
 *     tls: string|null,
 *     size_bytes: int,
 *     spf_result: 'none'|'neutral'|'pass'|'fail'|'softfail'|'temperror'|'permerror'|'policy',
 *     dkim_result: 'none'|'pass'|'fail'|'policy'|'neutral'|'temperror'|'permerror',
 *     dmarc_result: 'none'|'pass'|'fail'|'temperror'|'permerror',
 *     arc_result: 'none'|'pass'|'fail',
 *     parse_error: string|null,
 *     forwarded_as: string|null,
 *     not_forwarded: list<array{
 *         email: string,
 *         reason: 'pending_confirmation'|'stopped'|'domain_not_verified',
 *     }>,
 *     created_at: string,
 *     text_body: string|null,
 *     html_body: string|null,
 *     headers: array<string, string>|null,
 *     attachments: list<array{
 *         filename: string,
 *         content_type: string,
 *         size: int,
 *         content_id: string|null,
 *     }>|null,
 * }
 * @phpstan-type MessagesBatchBody array{
 *     messages: list<SendMessage>,
 * }
 * @phpstan-type MessagesBatchAnswer array{
 *     data: list<AcceptedMessage|ApiError>,
 * }
 * @phpstan-type MessagesListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     status?: 'scheduled'|'queued'|'deferred'|'delivered'|'bounced'|'suppressed'|'cancelled'|'partial',
 *     to?: EmailAddress,
 *     from?: EmailAddress,
 *     subject?: string,
 *     tag?: string,
 *     template_id?: string,
 *     domain_id?: string,
 *     mode?: 'live'|'test',
 *     stream?: string,
 *     q?: string,
 *     metadata?: array<string, string>,
 * }
 * @phpstan-type MessagesUpdateBody array{
 *     scheduled_at: Time,
 * }
 * @phpstan-type MessagesContentQuery array{
 *     part?: 'html'|'text'|'raw',
 * }
 * @phpstan-type MessagesEventsQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     type?: EventType,
 * }
 * @phpstan-type MessagesAttemptsAnswer array{
 *     data: list<Attempt>,
 *     reports: list<Report>,
 *     has_more: false,
 *     next_cursor: null,
 * }
 * @phpstan-type MessagesWebhookDeliveriesAnswer array{
 *     data: list<WebhookDelivery>,
 *     has_more: bool,
 *     next_cursor: null,
 * }
 * @phpstan-type MessagesAnalyzeBody array{
 *     from: Mailbox,
 *     to?: Mailbox|list<Mailbox>|null,
 *     cc?: Mailbox|list<Mailbox>|null,
 *     bcc?: Mailbox|list<Mailbox>|null,
 *     reply_to?: Mailbox|list<Mailbox>|null,
 *     subject?: ''|string|null,
 *     html?: string|null,
 *     text?: string|null,
 *     template_id?: string|null,
 *     variables?: array<string, mixed>|null,
 *     locale?: string|null,
 *     headers?: MessageHeaders|null,
 *     attachments?: list<Attachment|RemoteAttachment>|null,
 *     calendar?: Calendar|null,
 *     metadata?: array<string, string|int|float|bool>|null,
 *     tags?: list<string>|null,
 *     scheduled_at?: Time|null,
 *     expires_in?: int|null,
 *     stream?: string|null,
 *     require_tls?: bool|null,
 *     track_opens?: bool|null,
 *     track_clicks?: bool|null,
 *     unsubscribe?: bool|null,
 * }
 * @phpstan-type ApiKeysCreateBody array{
 *     name: string,
 *     domain_id: string,
 *     permissions: list<'send'|'read'|'manage'|'admin'>,
 *     mode?: 'live'|'test',
 *     expires_at?: Time|null,
 *     allowed_networks?: list<string>|null,
 * }
 * @phpstan-type ApiKeysListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type ApiKeysUpdateBody array{
 *     name?: string,
 *     allowed_networks?: list<string>|null,
 * }
 * @phpstan-type ApiKeysRotateBody array{
 *     grace_period_minutes?: int,
 * }
 * @phpstan-type DomainsCreateBody array{
 *     name: string,
 *     tracking?: array{
 *         opens?: bool,
 *         clicks?: bool,
 *         unsubscribe?: bool,
 *         host?: string|null,
 *     },
 *     server_name?: bool,
 * }
 * @phpstan-type DomainsListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type DomainsUpdateBody array{
 *     tracking?: array{
 *         opens?: bool,
 *         clicks?: bool,
 *         unsubscribe?: bool,
 *         host?: string|null,
 *     },
 * }
 * @phpstan-type DomainsDmarcQuery array{
 *     from?: Time,
 *     to?: Time,
 * }
 * @phpstan-type DomainsTlsReportsQuery array{
 *     from?: Time,
 *     to?: Time,
 * }
 * @phpstan-type AuditLogListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     action?: string,
 *     actor_id?: string,
 *     resource_id?: string,
 * }
 * @phpstan-type BillingUpdateBody array{
 *     plan: string,
 * }
 * @phpstan-type EventsListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     after?: string,
 *     type?: EventType,
 *     message_id?: string,
 *     domain_id?: string,
 *     mode?: 'live'|'test',
 * }
 * @phpstan-type EventsStreamQuery array{
 *     types?: list<'message.delivered'|'message.bounced'|'message.deferred'|'message.opened'|'message.clicked'|'message.unsubscribed'|'message.complained'|'quality.alert'|'message.suppressed'|'message.accepted'|'message.cancelled'|'message.expired'|'inbound.received'|'domain.verified'|'domain.failed'|'webhook.paused'|'suppression.added'|'suppression.removed'>,
 *     message_id?: string,
 *     domain_id?: string,
 *     mode?: 'live'|'test',
 *     after?: string,
 * }
 * @phpstan-type ExplainAddressQuery array{
 *     to: EmailAddress,
 *     stream?: string,
 * }
 * @phpstan-type StatsReadQuery array{
 *     from?: Time,
 *     to?: Time,
 *     interval?: 'hour'|'day'|'month',
 *     domain_id?: string,
 *     tag?: string,
 *     stream?: string,
 *     group_by?: 'domain'|'tag'|'stream',
 *     mode?: 'live'|'test',
 * }
 * @phpstan-type QualityListQuery array{
 *     limit?: int,
 *     cursor?: string,
 * }
 * @phpstan-type SuppressionsListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     email?: EmailAddress,
 *     reason?: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *     stream?: string,
 *     q?: string,
 * }
 * @phpstan-type SuppressionsCreateBody array{
 *     email: EmailAddress,
 *     domain_id?: string|null,
 *     stream?: string|null,
 *     reason?: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 * }
 * @phpstan-type RecipientsEraseBody array{
 *     email: EmailAddress,
 * }
 * @phpstan-type RecipientsErasuresListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type SuppressionsExportQuery array{
 *     reason?: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *     stream?: string,
 * }
 * @phpstan-type SuppressionsImportBody array{
 *     csv?: string,
 *     suppressions?: list<array<string, mixed>>,
 *     from?: 'resend'|'postmark'|'sendgrid'|'mailgun'|'ses'|'postal',
 *     reason?: 'hard_bounce'|'complaint'|'unsubscribe'|'manual'|'block',
 *     stream?: string,
 *     dry_run?: bool,
 * }
 * @phpstan-type TemplatesCreateBody array{
 *     name: string,
 *     kind?: 'message'|'layout'|'partial',
 *     alias?: string|null,
 *     subject?: string|null,
 *     html?: string|null,
 *     mjml?: string|null,
 *     text?: string|null,
 *     layout?: string|null,
 *     locales?: array<string, array{
 *         subject?: string|null,
 *         html?: string|null,
 *         mjml?: string|null,
 *         text?: string|null,
 *     }|null>|null,
 *     sample?: array<string, mixed>,
 * }
 * @phpstan-type TemplatesListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     kind?: 'message'|'layout'|'partial',
 * }
 * @phpstan-type TemplatesGetQuery array{
 *     version?: string,
 * }
 * @phpstan-type TemplatesUpdateBody array{
 *     name?: string,
 *     alias?: string|null,
 *     subject?: string|null,
 *     html?: string|null,
 *     mjml?: string|null,
 *     text?: string|null,
 *     layout?: string|null,
 *     locales?: array<string, array{
 *         subject?: string|null,
 *         html?: string|null,
 *         mjml?: string|null,
 *         text?: string|null,
 *     }|null>|null,
 *     sample?: array<string, mixed>,
 * }
 * @phpstan-type TemplatesRenderBody array{
 *     variables?: array<string, mixed>,
 *     version?: int,
 *     locale?: string|null,
 * }
 * @phpstan-type TemplatesPreviewBody array{
 *     subject?: string|null,
 *     html?: string|null,
 *     mjml?: string|null,
 *     text?: string|null,
 *     layout?: string|null,
 *     locale?: string|null,
 *     variables?: array<string, mixed>,
 * }
 * @phpstan-type TemplatesVersionsQuery array{
 *     limit?: int,
 *     cursor?: string,
 * }
 * @phpstan-type WebhooksCreateBody array{
 *     url: string,
 *     events: list<EventType>,
 *     description?: string|null,
 *     format?: 'enveloped'|'resend',
 *     headers?: EndpointHeaders,
 * }
 * @phpstan-type WebhooksListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type WebhooksUpdateBody array{
 *     url?: string,
 *     events?: list<EventType>,
 *     status?: 'active'|'paused',
 *     description?: string|null,
 *     headers?: EndpointHeaders,
 * }
 * @phpstan-type WebhooksTestBody array{
 *     type: EventType,
 * }
 * @phpstan-type WebhooksRotateSecretBody array{
 *     grace_period_minutes?: int,
 * }
 * @phpstan-type WebhookDeliveriesListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     status?: 'pending'|'delivered'|'failed',
 *     type?: EventType,
 * }
 * @phpstan-type WebhooksReplayBody array{
 *     from: Time,
 *     to?: Time,
 *     type?: EventType,
 * }
 * @phpstan-type WebhooksReplayAnswer array{
 *     queued: int,
 * }
 * @phpstan-type InboundRoutesCreateBody array{
 *     name: string,
 *     match: array{
 *         type: 'address',
 *         value: string,
 *     }|array{
 *         type: 'pattern',
 *         value: string,
 *     }|array{
 *         type: 'domain',
 *         value: string,
 *     }|array{
 *         type: 'catch_all',
 *         value?: null,
 *     },
 *     action: array{
 *         type: 'webhook',
 *         config: array{
 *             url: string,
 *             include_attachments?: bool,
 *             headers?: EndpointHeaders,
 *             header_names?: list<string>,
 *         },
 *     }|array{
 *         type: 'forward',
 *         config: array{
 *             to: EmailAddress|list<EmailAddress|array{
 *                 email: EmailAddress,
 *                 ...
 *             }>,
 *         },
 *     }|array{
 *         type: 'store',
 *         config?: array<string, mixed>,
 *     },
 *     authentication?: 'none'|'dmarc'|'require_pass',
 *     enabled?: bool,
 *     priority?: int,
 * }
 * @phpstan-type InboundRoutesListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type InboundRoutesUpdateBody array{
 *     name?: string,
 *     match?: array{
 *         type: 'address',
 *         value: string,
 *     }|array{
 *         type: 'pattern',
 *         value: string,
 *     }|array{
 *         type: 'domain',
 *         value: string,
 *     }|array{
 *         type: 'catch_all',
 *         value?: null,
 *     },
 *     action?: array{
 *         type: 'webhook',
 *         config: array{
 *             url: string,
 *             include_attachments?: bool,
 *             headers?: EndpointHeaders,
 *             header_names?: list<string>,
 *         },
 *     }|array{
 *         type: 'forward',
 *         config: array{
 *             to: EmailAddress|list<EmailAddress|array{
 *                 email: EmailAddress,
 *                 ...
 *             }>,
 *         },
 *     }|array{
 *         type: 'store',
 *         config?: array<string, mixed>,
 *     },
 *     authentication?: 'none'|'dmarc'|'require_pass',
 *     enabled?: bool,
 *     priority?: int,
 * }
 * @phpstan-type InboundRoutesConfirmationsBody array{
 *     email?: EmailAddress,
 * }
 * @phpstan-type InboundRoutesTestBody array{
 *     from?: EmailAddress|'',
 *     to: EmailAddress,
 *     subject?: string,
 * }
 * @phpstan-type InboundMessagesListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 *     route_id?: string,
 *     domain_id?: string,
 *     from?: EmailAddress,
 *     to?: EmailAddress,
 *     status?: 'pending'|'delivered'|'failed',
 *     q?: string,
 * }
 * @phpstan-type InboundMessagesDeliveriesAnswer array{
 *     data: list<InboundDelivery>,
 *     has_more: bool,
 *     next_cursor: string|null,
 * }
 * @phpstan-type InvitationsCreateBody array{
 *     email: EmailAddress,
 *     role: 'owner'|'admin'|'developer'|'support'|'viewer',
 * }
 * @phpstan-type InvitationsListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type UsersListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 * @phpstan-type UsersUpdateBody array{
 *     role?: 'owner'|'admin'|'developer'|'support'|'viewer',
 *     email?: EmailAddress,
 *     name?: string,
 *     is_operator?: bool,
 *     disabled?: bool,
 * }
 * @phpstan-type UsersDeleteQuery array{
 *     keys?: 'revoke'|'keep',
 * }
 * @phpstan-type UsersSessionsListQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     created_after?: Time,
 *     created_before?: Time,
 * }
 */
final class Types
{
}
