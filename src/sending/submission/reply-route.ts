import type { ApiKey } from '../../model/api-key.ts'
import type { Domain } from '../../model/domain.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { ReplyRoute } from '../../model/message.ts'
import { invalid } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import type { GivenReplies } from './request.ts'
import type { SendingRules } from './sending-rules.ts'

/** The named route of the key's organization, and the domain of its reply addresses: that of the route, or the key's if
 *  the route is for every domain. `validation_error` for a name that no enabled route of the organization has, or
 *  several have, and for a domain that receives nothing. Test mail needs no verified domain, as nothing is sent. */
export function requireReplyRoute(
  given: GivenReplies,
  { organizationId, mode }: Pick<ApiKey, 'organizationId' | 'mode'>,
  keyDomain: Domain,
  senderName: string | null,
  deps: { store: { snapshot: Pick<Store['snapshot'], 'domainByName' | 'enabledRoutes'> }; rules: SendingRules },
): ReplyRoute {
  const { snapshot } = deps.store
  const route = requireRoute(given.route, snapshot.enabledRoutes(organizationId), keyDomain.name)
  const name = domainOf(route) ?? keyDomain.name
  const domain = name === keyDomain.name ? keyDomain : snapshot.domainByName(name)
  const receives = domain !== null && domain.organizationId === organizationId && deps.rules.mayReceive(domain)
  if (!receives && mode === 'live') throw fault(`leads to ${name}, which receives no mail: verify the domain`)
  return { routeId: route.id, domain: name, name: given.name ?? senderName }
}

/** A name means the route of the key's own domain first: keys of other domains may make routes of any name. */
function requireRoute(wanted: string, routes: readonly InboundRoute[], ownDomain: string): InboundRoute {
  const byId = routes.find(({ id }) => id === wanted)
  if (byId !== undefined) return byId
  const named = routes.filter(({ name }) => name === wanted)
  const own = named.filter((route) => (domainOf(route) ?? ownDomain) === ownDomain)
  const [first, second] = own.length > 0 ? own : named
  if (first === undefined) throw fault('must be the ID or name of an enabled inbound route')
  if (second !== undefined) throw fault('is the name of several inbound routes: give the ID')
  return first
}

function domainOf({ match: { value } }: InboundRoute): string | null {
  return value === null ? null : value.slice(value.lastIndexOf('@') + 1).toLowerCase()
}

function fault(message: string) {
  return invalid([{ field: 'replies', message: `replies ${message}` }])
}
