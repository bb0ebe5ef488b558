import type { AuditEntry } from '../../model/audit-entry.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

/** The audit entry of an action, and whether it is written. */
export interface AuditNote {
  /** The entry as far as it is known when the change is made. */
  entry(): AuditEntry
  isKept: boolean
}

export interface AuditFilter extends TimeRange {
  /** Null = entries of all organizations and of the installation, for the operator only. */
  organizationId: string | null
  actorId: string | null
  action: string | null
  resourceId: string | null
}

/** Audit log of management actions. */
export interface AuditLog {
  /** Runs `work`. Its first change of this store writes `note.entry()` in the same transaction, so that nothing
   *  changes without an entry. Afterwards `note.isKept` says whether anything changed. */
  during<T>(note: AuditNote, work: () => Promise<T>): Promise<T>
  /** Writes an entry, or updates the outcome of an existing one. */
  put(entry: AuditEntry): Promise<void>
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
  /** Deletes at most `limit` entries older than `before`; returns the number deleted. */
  prune(before: number, limit: number): Promise<number>
}
