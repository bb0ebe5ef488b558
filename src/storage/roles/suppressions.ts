import type { Remember } from '../../model/idempotency.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Message, Mode } from '../../model/message.ts'
import type { Suppression, SuppressionReason } from '../../model/suppression.ts'
import type { Page, PageRequest, TimeRange } from '../page.ts'

/** Folded address → why Postrider does not send to it. */
export type SuppressedAddresses = Map<string, WhySuppressed>
export type WhySuppressed = Pick<Suppression, 'reason' | 'stream'>

/** What decides whether a suppression applies. */
export type SuppressibleMail = Pick<Message, 'organizationId' | 'domainId' | 'stream' | 'mode'>

/** Addresses that somebody asks about. */
export interface AskedAddresses extends SuppressibleMail {
  emails: readonly string[]
}

export interface Suppressions {
  /** If there is already one for that address and reach (model/suppression.ts), it stays: `exists` with it. Every change
   *  of this role writes the event of each suppression that was added or removed, if an active webhook receives it. */
  add(
    suppression: Suppression,
    remember?: Remember,
  ): Promise<{ kind: 'added' } | { kind: 'exists'; suppression: Suppression } | LimitReached>
  /** Adds many in one transaction, in order. Returns how many were new, and the limit that ended the list: the first
   *  one beyond it and all later ones are not added. `now`: time of their events (ms UTC). */
  addAll(suppressions: readonly Suppression[], now: number): Promise<{ added: number; limit: LimitReached | null }>
  get(id: string): Promise<Suppression | null>
  /** Addresses (folded) → those of them that are suppressed for such mail, in the given order; of several reasons the
   *  first in the alphabet. Suppressions of test keys hold for test mail, all others for both. */
  among(mail: SuppressibleMail, emails: readonly string[]): Promise<SuppressedAddresses>
  find(organizationId: string, email: string): Promise<Suppression[]>
  list(
    filter: {
      organizationId: string
      email: string | null
      /** Beginning of the address or of its domain, folded; absent or null = all addresses. */
      beginning?: string | null
      reason: SuppressionReason | null
      /** Only those that name it; absent or null = all. */
      stream?: string | null
      /** Includes those of the whole organization; absent or null = all domains. */
      domainId?: string | null
      mode?: Mode | null
    } & TimeRange,
    page: PageRequest,
  ): Promise<Page<Suppression>>
  /** Returns the number removed. */
  remove(ids: string[], now: number): Promise<number>
}
