import type { Store } from '../../storage/store.ts'
import { requireOwned } from '../errors.ts'
import { requireWithin, type Scope } from '../scope.ts'

/** 403 if a query refers to a record of another organization or a domain other than the key's; 404 for an unknown
 *  domain, and for a live message with a test key. A message that was deleted can still have events. `after` is a
 *  position in the list of all events and can be any event of the organization, because streams give all keys these
 *  IDs. */
export async function requireOwnFilter(
  query: { message_id?: string | undefined; domain_id?: string | undefined; after?: string | undefined },
  scope: Scope,
  { events, messages, domains }: Pick<Store, 'events' | 'messages' | 'domains'>,
): Promise<void> {
  const { message_id: messageId, domain_id: domainId, after } = query
  const [message, domain, event] = await Promise.all([
    messageId === undefined ? null : messages.get(messageId),
    domainId === undefined ? null : domains.get(domainId),
    after === undefined || after === '' ? null : events.get(after),
  ])
  const { organizationId } = scope
  if (message !== null) requireWithin(message, scope, 'message')
  if (domainId !== undefined) requireOwned(domain, organizationId, 'domain')
  if (event !== null) requireOwned(event, organizationId, 'event')
}
