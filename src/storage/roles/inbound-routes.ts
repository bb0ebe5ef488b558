import type { InboundRoute } from '../../model/inbound-route.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface InboundRoutes {
  create(route: InboundRoute, secret: string, remember?: Remember): Promise<'created' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<InboundRoute | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<InboundRoute>>
  update(
    id: string,
    change: Partial<Pick<InboundRoute, 'name' | 'match' | 'action' | 'authentication' | 'enabled' | 'priority'>>,
  ): Promise<InboundRoute | null>
  /** Removes a route. Its open deliveries fail; messages stay. Since there may be many, it uses several
   *  transactions: the route is disabled in the first and deleted in the last, and can be removed again after a
   *  crash in between. */
  remove(id: string): Promise<void>
}
