import { type AuditedAction, accompany } from '../records/audit-log.ts'
import { performingOn } from './database.ts'
import type { Connection } from './driver.ts'

const CHANGES = 'select total_changes()'

/** Change → the same change, which also writes the entry of its audited action if it changes anything. */
export function accompanying(db: Connection, action: AuditedAction): <T>(change: () => T) => () => T {
  const changes = db.prepare(CHANGES).pluck()
  const performNow = performingOn(db)
  return (change) => {
    const note = action.getStore()
    if (note === undefined) return change
    const { isKept } = note
    return () => {
      note.isKept = isKept // what an earlier try wrote was rolled back
      const before = changes.get()
      const value = change()
      if (changes.get() !== before) performNow(accompany(note))
      return value
    }
  }
}
