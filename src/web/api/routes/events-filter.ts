import type { Store } from '../../../storage/store.ts'
import { requireOwned } from '../errors.ts'
import { requireWithin, type Scope } from '../scope.ts'

/** Checks the records that a query of events refers to. Rejects with `forbidden` for a record of another organization
 *  or a message of a domain outside the scope, and with `not_found` for an unknown domain or, with a test key, a live
 *  message. An unknown message is accepted, because events can remain after their message is deleted. `after` can be
 *  any event of the organization, because streams send the IDs of all events as positions. */
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
