import type { Operation } from '../operation.ts'
import type { Json } from './schemas.ts'

/** Groups of operations, in the order of the document. `words` are the first path segments after `/v1`. */
const RESOURCES: { name: string; description: string; words: string[] }[] = [
  {
    name: 'Messages',
    description: 'Send messages and see their status.',
    words: ['messages', 'send', 'explain'],
  },
  { name: 'Templates', description: 'Reusable messages with variables, written in Liquid.', words: ['templates'] },
  {
    name: 'Events',
    description: 'Everything that happened to your messages. The same events go to webhooks.',
    words: ['events'],
  },
  { name: 'Statistics', description: 'Counts, rates and quality alerts.', words: ['stats', 'quality'] },
  { name: 'Suppressions', description: 'Addresses that receive no mail.', words: ['suppressions'] },
  { name: 'Recipients', description: 'Erasure of what names a recipient.', words: ['recipients'] },
  { name: 'Webhooks', description: 'Endpoints that receive signed events.', words: ['webhooks'] },
  {
    name: 'Inbound mail',
    description: 'Routes for incoming mail, and the received messages.',
    words: ['inbound-routes', 'inbound-messages'],
  },
  { name: 'Domains', description: 'Sending domains and the DNS records to publish for them.', words: ['domains'] },
  { name: 'API keys', description: 'Keys and their permissions.', words: ['api-keys'] },
  { name: 'Users', description: 'People who sign in, their roles and sessions.', words: ['users', 'invitations'] },
  { name: 'Audit log', description: 'Who changed what, and when.', words: ['audit-log'] },
  {
    name: 'Operator',
    description: 'Endpoints for the operator of this server.',
    words: [
      'organizations',
      'plans',
      'sessions',
      'queues',
      'nodes',
      'sending-addresses',
      'relays',
      'health-checks',
      'alerts',
      'canary',
      'configuration',
      'blocked-links',
    ],
  },
  { name: 'Plan', description: 'Plan limits and current usage.', words: ['usage', 'billing'] },
]

/** Tag of the requests that Postrider sends to endpoints. */
export const POSTED_TAG = 'Webhook requests'

/** Operation → name of its group, or the first path segment after `/v1` if it has no group. */
export function tagOf({ path }: Pick<Operation, 'path'>): string {
  const [, , word = ''] = path.split('/')
  return RESOURCES.find(({ words }) => words.includes(word))?.name ?? word
}

/** Operations → `tags` of the document, those of known groups first. */
export function tagsOf(operations: readonly Operation[]): Json[] {
  const used = new Set(operations.map(tagOf))
  const known = RESOURCES.filter(({ name }) => used.delete(name)).map(({ name, description }) => ({
    name,
    description,
  }))
  const posted = {
    name: POSTED_TAG,
    description: 'Requests that Postrider sends to your endpoints, and their signatures.',
  }
  return [...known, ...[...used].map((name) => ({ name })), posted]
}
