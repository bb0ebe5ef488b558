/** The pages of the manual in the order of the navigation. A topic is the file name of the page, its path below
 *  `/manual/`, and the argument of `postrider manual`. Tests run the code of the pages in this order. */
export const CONTENTS = [
  { name: 'Start', topics: ['try-out', 'install', 'first-month', 'quick-starts', 'troubleshooting'] },
  {
    name: 'Send',
    topics: [
      'sending',
      'errors',
      'templates',
      'react-email',
      'typed-templates',
      'typescript',
      'python',
      'php',
      'smtp',
      'sandbox',
      'tracking',
      'delivery-results',
      'webhooks',
      'statistics',
      'agents',
    ],
  },
  { name: 'Receive', topics: ['inbound', 'help-desk'] },
  {
    name: 'Migrate',
    topics: ['migration', 'from-resend', 'from-postmark', 'from-sendgrid', 'from-mailgun', 'from-ses', 'from-postal'],
  },
  {
    name: 'Server',
    topics: ['operating', 'configuration', 'command-line', 'dns', 'dns-apply', 'dns-once', 'tls', 'backup', 'upgrade'],
  },
  { name: 'Security', topics: ['keys', 'users', 'single-sign-on', 'tls-policies', 'privacy', 'security'] },
  { name: 'Watch', topics: ['dashboard', 'health-checks', 'metrics', 'alerts', 'canary'] },
  { name: 'Scale', topics: ['plans', 'limits', 'performance', 'nodes', 'move-to-postgresql'] },
  { name: 'Deliver well', topics: ['deliverability', 'relays', 'destination-limits'] },
  { name: 'Understand', topics: ['durability', 'behaviour', 'architecture'] },
  { name: 'Reference', topics: ['api-operations', 'configuration-reference', 'command-line-reference'] },
] as const

export const TOPICS: readonly string[] = CONTENTS.flatMap(({ topics }) => topics)

/** Topics without a file: reference.ts generates them from the tables that the program uses. */
export const GENERATED: readonly string[] = CONTENTS.at(-1)!.topics

/** One entry of `topics.json` among the packed files. */
export interface TopicEntry {
  topic: string
  title: string
  /** The first paragraph, as plain text. */
  summary: string
}
