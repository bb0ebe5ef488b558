import type { AuditEntry } from '../../model/audit-entry.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

/** An action that is to be told of, and whether that is written. */
export interface AuditNote {
  /** As far as it is known when the change is made. */
  entry(): AuditEntry
  isKept: boolean
}

export interface AuditFilter extends TimeRange {
  /** Null = of all, and of the installation: for the operator alone. */
  organizationId: string | null
  actorId: string | null
  action: string | null
  resourceId: string | null
}

/** Who managed what. */
export interface AuditLog {
  /** Does `work`. The first change of this store that it makes has `note.entry()` in its transaction, so that nothing
   *  changes without its entry; `note.isKept` says afterwards whether anything changed. */
  during<T>(note: AuditNote, work: () => Promise<T>): Promise<T>
  /** Writes an entry, or tells how one that is there ended. */
  put(entry: AuditEntry): Promise<void>
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
  /** Forgets at most `limit` entries from before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}
