import { type AuditedAction, accompany } from '../records/audit-log.ts'
import { perform } from './database.ts'
import type { Accompany } from './writer.ts'

/** Change → the same change, which also writes the entry of its audited action if it changes anything. */
export const accompanying =
  (action: AuditedAction): Accompany =>
  (change) => {
    const note = action.getStore()
    if (note === undefined) return change
    const { isKept } = note
    return async (statements) => {
      note.isKept = isKept // what an earlier try wrote was rolled back
      let written = 0
      const run: typeof statements.run = async (text, values) => {
        const count = await statements.run(text, values)
        written += count
        return count
      }
      const value = await change({ ...statements, run })
      if (written > 0) await perform(accompany(note), { statements, add: null })
      return value
    }
  }
