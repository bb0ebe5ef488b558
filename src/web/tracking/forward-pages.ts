import type { ForwardLinks, ForwardTarget } from '../../mail/forward-link.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { requestTarget } from '../../net/request-target.ts'
import type { Clock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { PublicPage } from './pages.ts'
import { forwardAskPage, forwardConfirmedPage, forwardStopPage, forwardStoppedPage, unknownPage } from './responses.ts'

/** The links of a confirmation message, below `/forward/`. GET changes nothing, because mail scanners open every link. POST
 *  is idempotent. A confirmation link works until it expires, while its route still contains the address; a stop link
 *  always works. */
export function forwardPages(deps: {
  store: Pick<Store, 'inboundRoutes' | 'forwardTargets' | 'organizations'>
  links: () => ForwardLinks | Promise<ForwardLinks>
  clock: Clock
}): PublicPage[] {
  const { store, clock } = deps
  const linkOf = async (request: Request) => (await deps.links()).read(requestTarget(request).pathname, clock.now())
  /** The recipients forwarded to the target; null when its route no longer contains the target. */
  const forwardedBy = async ({ routeId, organizationId, email }: ForwardTarget): Promise<string | null> => {
    const route = await store.inboundRoutes.get(routeId)
    if (route === null || route.organizationId !== organizationId || route.action.type !== 'forward') return null
    const names = route.action.config.to.map(suppressionKey)
    if (!names.some((name) => name === email || name.endsWith(`<${email}>`))) return null
    return route.match.value ?? 'every address of a domain'
  }

  return [
    {
      method: 'GET',
      path: '/forward/*',
      whileStopping: true,
      async handle(request) {
        const link = await linkOf(request)
        if (link === null) return unknownPage()
        const { email } = link.target
        if (link.kind === 'stop') return forwardStopPage(email)
        const matched = await forwardedBy(link.target)
        if (matched === null) return unknownPage()
        const organization = (await store.organizations.get(link.target.organizationId))?.name ?? ''
        return forwardAskPage({ organization, matched, email })
      },
    },
    {
      method: 'POST',
      path: '/forward/*',
      whileStopping: true,
      async handle(request) {
        const link = await linkOf(request)
        if (link === null) return unknownPage()
        const { organizationId, email } = link.target
        if (link.kind === 'stop') {
          await store.forwardTargets.set(organizationId, email, 'stopped', clock.now())
          return forwardStoppedPage(email)
        }
        const matched = await forwardedBy(link.target)
        if (matched === null) return unknownPage()
        await store.forwardTargets.set(organizationId, email, 'confirmed', clock.now())
        return forwardConfirmedPage(matched, email, (await deps.links()).stop(link.target))
      },
    },
  ]
}
