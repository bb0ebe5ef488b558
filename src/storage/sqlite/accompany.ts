import { type AuditedAction, accompany } from '../records/audit-log.ts'
import { performNow, preparing } from './database.ts'
import type { Connection } from './driver.ts'

const CHANGES = 'select total_changes()'

/** Change → the same change, which also writes the entry of its audited action if it changes anything. */
export function accompanying(db: Connection, action: AuditedAction): <T>(change: () => T) => () => T {
  const changes = db.prepare(CHANGES).pluck()
  const prepare = preparing(db)
  return (change) => {
    const note = action.getStore()
    if (note === undefined) return change
    const { isKept } = note
    return () => {
      note.isKept = isKept // what an earlier try wrote was rolled back
      const before = changes.get()
      const value = change()
      if (changes.get() !== before) performNow(prepare, accompany(note))
      return value
    }
  }
}
