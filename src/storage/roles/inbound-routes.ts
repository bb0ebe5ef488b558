import type { GivenAction, InboundRoute } from '../../model/inbound-route.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface InboundRoutes {
  create(route: GivenRoute, secret: string, remember?: Remember): Promise<'created' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<InboundRoute | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<InboundRoute>>
  /** An action with a URL of another origin, or with none, removes the headers that are not given again. */
  update(
    id: string,
    change: Partial<Pick<GivenRoute, 'name' | 'match' | 'action' | 'authentication' | 'enabled' | 'priority'>>,
  ): Promise<InboundRoute | null>
  /** Removes a route. Its open deliveries fail; messages stay. Since there may be many, it uses several
   *  transactions: the route is disabled in the first and deleted in the last, and can be removed again after a
   *  crash in between. */
  remove(id: string): Promise<void>
}

/** A route as a request gives it. */
export type GivenRoute = Omit<InboundRoute, 'action'> & { action: GivenAction }
