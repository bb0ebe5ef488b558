/** The pages of the manual in the order of the navigation. A topic is the file name of the page, its path below
 *  `/manual/`, and the argument of `postrider manual`. Tests run the code of the pages in this order. */
export const CONTENTS = [
  { name: 'Start', topics: ['try-out', 'install', 'migration', 'moving-in', 'troubleshooting'] },
  {
    name: 'Send',
    topics: [
      'sending',
      'templates',
      'react-email',
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
  { name: 'Receive', topics: ['inbound'] },
  {
    name: 'Operate',
    topics: [
      'operating',
      'dashboard',
      'dns',
      'dns-once',
      'tls',
      'keys',
      'users',
      'single-sign-on',
      'plans',
      'configuration',
      'command-line',
      'health-checks',
      'metrics',
      'alerts',
      'privacy',
      'canary',
      'backup',
      'upgrade',
      'nodes',
      'move-to-postgresql',
    ],
  },
  { name: 'Deliver well', topics: ['deliverability', 'relays', 'destination-limits', 'tls-policies'] },
  { name: 'Understand', topics: ['durability', 'security', 'limits', 'behaviour', 'performance', 'architecture'] },
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
