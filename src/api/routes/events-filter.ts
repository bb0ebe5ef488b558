import type { Store } from '../../storage/store.ts'
import { requireOwned } from '../errors.ts'

/** 403 when a query names something of another organization (interface.md, Authentication 7), 404 for a domain that is
 *  not there. A message that is no longer there may still have events, or simply has none to show. */
export async function requireOwnFilter(
  query: { message_id?: string | undefined; domain_id?: string | undefined; after?: string | undefined },
  organizationId: string,
  { events, messages, domains }: Pick<Store, 'events' | 'messages' | 'domains'>,
): Promise<void> {
  const { message_id: messageId, domain_id: domainId, after } = query
  const [message, domain, event] = await Promise.all([
    messageId === undefined ? null : messages.get(messageId),
    domainId === undefined ? null : domains.get(domainId),
    after === undefined || after === '' ? null : events.get(after),
  ])
  if (message !== null) requireOwned(message, organizationId, 'message')
  if (domainId !== undefined) requireOwned(domain, organizationId, 'domain')
  if (event !== null) requireOwned(event, organizationId, 'event')
}
