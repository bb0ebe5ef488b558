import type { Store } from '../../storage/store.ts'
import { requireOwned } from '../errors.ts'
import { requireWithin, type Scope } from '../scope.ts'

/** 403 when a query names something of another organization (interface.md, Authentication 7) or of another domain than
 *  the key's, 404 for a domain that is not there, and for a live message that a test key names. A message that is no
 *  longer there may still have events, or simply has none to show. `after` is a place in the list of all events, and may
 *  be any event of the organization: streams give such ids out to everybody. */
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
