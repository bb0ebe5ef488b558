/** Parts of Resend's API that this server does not have → what to use instead, by the path below the root. */
const PARTS: readonly (readonly [path: RegExp, part: string, instead: string])[] = [
  [
    /^\/(?:broadcasts|contacts|contact-properties|audiences|segments|topics|automations|events)(?:\/|$)/,
    'Contacts, broadcasts, topics and automations',
    'Postrider sends transactional mail and keeps no contacts.',
  ],
  [/^\/templates(?:\/|$)/, 'Resend’s template methods', 'Manage templates with /v1/templates.'],
  [
    /^\/(?:inboxes|emails\/receiving)(?:\/|$)/,
    'Resend’s inboxes and received emails',
    'Receive mail with /v1/inbound-routes and read it with /v1/inbound-messages.',
  ],
  [/^\/emails\/metrics$/, 'Resend’s metrics', 'GET /v1/stats answers counts and rates.'],
  [/^\/emails\/[^/]+\/share$/, 'Public links to an email', 'Open the message in the dashboard.'],
  [
    /^\/emails\/[^/]+\/attachments(?:\/|$)/,
    'Download addresses of attachments',
    'GET /v1/messages/:message_id/attachments/:number answers one attachment, content?part=raw the whole mail.',
  ],
  [/^\/domains\/(?:[^/]+\/)?claim(?:\/|$)/, 'Domain claims', 'Publish the DNS records of the domain and verify it.'],
  [
    /^\/webhooks\/[^/]+\/events(?:\/|$)/,
    'Resend’s webhook events',
    'GET /v1/webhooks/:webhook_id/deliveries lists deliveries, POST …/replay repeats them.',
  ],
  [/^\/logs(?:\/|$)/, 'Resend’s logs', 'GET /v1/audit-log lists changes.'],
  [/^\/usage$/, 'Resend’s usage', 'GET /v1/usage answers usage and limits.'],
  [/^\/oauth(?:\/|$)/, 'OAuth grants', 'Requests need an API key.'],
]

/** Path below the root → what an application is told there, or null where this server answers. */
export function notSupported(path: string): string | null {
  const found = PARTS.find(([pattern]) => pattern.test(path))
  if (found === undefined) return null
  const [, part, instead] = found
  return `${part} are not supported. ${instead} README “Moving in” lists the methods that work.`
}
