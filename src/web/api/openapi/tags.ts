import type { Json } from './schemas.ts'

/** Groups of operations with their descriptions, in the order of the document. */
const TAGS = {
  Messages: 'Send messages and see their status.',
  Templates: 'Reusable messages with variables, written in Liquid.',
  Events: 'Everything that happened to your messages. The same events go to webhooks.',
  Statistics: 'Counts, rates and quality alerts.',
  Suppressions: 'Addresses that receive no mail.',
  Recipients: 'Delete the data of a person.',
  Webhooks: 'Endpoints that receive signed events.',
  'Inbound mail': 'Routes for incoming mail, and the received messages.',
  Domains: 'Sending domains and the DNS records to publish for them.',
  'API keys': 'Keys and their permissions.',
  Users: 'People who sign in, their roles and sessions.',
  'Audit log': 'Who changed what, and when.',
  Operator: 'Endpoints for the operator of this server.',
  Plan: 'Plan limits and current usage.',
}

export type Tag = keyof typeof TAGS

/** Tag of the requests that Postrider sends to endpoints. */
export const POSTED_TAG = 'Webhook requests'

/** Operations → `tags` of the document. */
export function tagsOf(operations: readonly { tag: Tag }[]): Json[] {
  const used = new Set<string>(operations.map(({ tag }) => tag))
  const known = Object.entries(TAGS).filter(([name]) => used.has(name))
  return [...known, [POSTED_TAG, 'Requests that Postrider sends to your endpoints, and their signatures.']].map(
    ([name, description]) => ({ name, description }),
  )
}
