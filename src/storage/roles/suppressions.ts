import type { LimitReached } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import type { Suppression, SuppressionReason } from '../../model/suppression.ts'
import type { Remember } from './idempotency.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

export interface Suppressions {
  /** The one for that address and reach, if there is one already, stays: `exists` with it. */
  add(
    suppression: Suppression,
    remember?: Remember,
  ): Promise<{ kind: 'added' } | { kind: 'exists'; suppression: Suppression } | LimitReached>
  /** Many in one transaction, in order; answers how many were not there already, and the limit at which the first of them
   *  that did not fit was left out with all behind it. */
  addAll(suppressions: readonly Suppression[]): Promise<{ added: number; limit: LimitReached | null }>
  get(id: string): Promise<Suppression | null>
  /** Addresses (folded) → those of them that are suppressed for the domain or the whole organization. Suppressions of
   *  test keys hold for test mail, all others for both. Synchronous. */
  among(organizationId: string, domainId: string, emails: string[], mode?: Mode): Set<string>
  find(organizationId: string, email: string): Promise<Suppression[]>
  list(
    filter: {
      organizationId: string
      email: string | null
      reason: SuppressionReason | null
      /** With those of the whole organization; absent or null = of every domain. */
      domainId?: string | null
      mode?: Mode | null
    } & TimeRange,
    page: PageRequest,
  ): Promise<Page<Suppression>>
  /** Answers the number removed. */
  remove(ids: string[]): Promise<number>
}
