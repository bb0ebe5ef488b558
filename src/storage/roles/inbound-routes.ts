import type { Domain } from '../../model/domain.ts'
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
  /** Enabled routes of an organization in no order. Synchronous and from memory: asked for at every RCPT. */
  enabledOf(organizationId: string): InboundRoute[]
  /** As Domains.findByName. Synchronous and from memory. */
  domainByName(name: string): Domain | null
  /** The domain whose return path host that is, a verified one before others. Synchronous and from memory. */
  domainByReturnPathHost(host: string): Domain | null
}
