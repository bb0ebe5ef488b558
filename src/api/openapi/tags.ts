import type { Operation } from '../operation.ts'
import type { Json } from './schemas.ts'

/** How operations are put together for reading, by the first word of their path. */
const RESOURCES: { name: string; description: string; words: string[] }[] = [
  {
    name: 'Messages',
    description: 'Sending, and what became of each message.',
    words: ['messages', 'send', 'explain'],
  },
  { name: 'Templates', description: 'Mails with gaps, written in Liquid.', words: ['templates'] },
  { name: 'Events', description: 'Everything that was told to webhooks, to be read again.', words: ['events'] },
  { name: 'Statistics', description: 'Counts, rates and alerts.', words: ['stats', 'quality'] },
  { name: 'Suppressions', description: 'Addresses that get no mail.', words: ['suppressions'] },
  { name: 'Webhooks', description: 'Who is told of which events.', words: ['webhooks'] },
  {
    name: 'Inbound mail',
    description: 'What happens to mail that comes in, and the mail itself.',
    words: ['inbound-routes', 'inbound-messages'],
  },
  { name: 'Domains', description: 'What may stand in From, and what has to be published for it.', words: ['domains'] },
  { name: 'API keys', description: 'Who may ask for what.', words: ['api-keys'] },
  { name: 'Audit log', description: 'Who managed what.', words: ['audit-log'] },
  {
    name: 'Operator',
    description: 'Whoever runs this server.',
    words: ['organizations', 'plans', 'sessions', 'queues', 'health-checks', 'configuration', 'blocked-links'],
  },
  { name: 'Plan', description: 'What the plan allows and what is used of it.', words: ['usage', 'billing'] },
]

/** What is posted to the caller's endpoints. */
export const POSTED_TAG = 'Posted to you'

/** Operation → the name of its resource; the word itself when it has none yet. */
export function tagOf({ path }: Pick<Operation, 'path'>): string {
  const word = path.split('/')[2]!
  return RESOURCES.find(({ words }) => words.includes(word))?.name ?? word
}

/** `tags` of the document, in the order in which they are best read. */
export function tagsOf(operations: readonly Operation[]): Json[] {
  const used = new Set(operations.map(tagOf))
  const known = RESOURCES.filter(({ name }) => used.delete(name)).map(({ name, description }) => ({
    name,
    description,
  }))
  const posted = { name: POSTED_TAG, description: 'What your endpoints get, and how it is signed.' }
  return [...known, ...[...used].map((name) => ({ name })), posted]
}
