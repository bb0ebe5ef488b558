/** Unsupported parts of Resend's API → what to use instead, by path under the root. */
const PARTS: readonly (readonly [path: RegExp, part: string, instead: string])[] = [
  [
    /^\/(?:contacts|contact-properties|audiences|segments)(?:\/|$)/,
    'Contacts, audiences and segments',
    'Keep recipients in your own database and address them in /emails or /emails/batch. Postrider stores who must not get mail: see /suppressions.',
  ],
  [
    /^\/broadcasts(?:\/|$)/,
    'Broadcasts',
    'Send a template to each recipient with POST /v1/messages/batch and "stream": "bulk", which adds unsubscribe links.',
  ],
  [
    /^\/topics(?:\/|$)/,
    'Topics',
    'Send mail of each topic in its own stream: an unsubscribe applies to the stream of its message.',
  ],
  [
    /^\/(?:automations|events)(?:\/|$)/,
    'Automations',
    'Send with "scheduled_at" from your program, and react to webhooks.',
  ],
  [/^\/templates(?:\/|$)/, 'Resend’s template methods', 'Manage templates with /v1/templates.'],
  [
    /^\/inboxes(?:\/|$)/,
    'Resend’s inboxes',
    'Receive mail with /v1/inbound-routes and read it with /emails/receiving.',
  ],
  [/^\/emails\/metrics$/, 'Resend’s metrics', 'Use GET /v1/stats for counts and rates.'],
  [/^\/emails\/[^/]+\/share$/, 'Public links to an email', 'Open the message in the dashboard.'],
  [
    /^\/emails\/[^/]+\/attachments(?:\/|$)/,
    'Download links for attachments',
    'Use GET /v1/messages/:message_id/attachments/:number for one attachment and content?part=raw for the whole message.',
  ],
  [/^\/domains\/(?:[^/]+\/)?claim(?:\/|$)/, 'Domain claims', 'Publish the DNS records of the domain and verify it.'],
  [
    /^\/webhooks\/[^/]+\/events(?:\/|$)/,
    'Resend’s webhook events',
    'Use GET /v1/webhooks/:webhook_id/deliveries to list deliveries and POST …/replay to repeat them.',
  ],
  [/^\/logs(?:\/|$)/, 'Resend’s logs', 'Use GET /v1/audit-log for changes.'],
  [/^\/usage$/, 'Resend’s usage', 'Use GET /v1/usage for usage and limits.'],
  [/^\/oauth(?:\/|$)/, 'OAuth grants', 'Use an API key.'],
]

/** Path under the root → error message, or null if it is supported. */
export function notSupported(path: string): string | null {
  const found = PARTS.find(([pattern]) => pattern.test(path))
  if (found === undefined) return null
  const [, part, instead] = found
  return `${part} are not supported. ${instead} The manual’s page on migration lists the supported methods.`
}
