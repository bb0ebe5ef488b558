import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { auditValues, PUT_AUDIT } from '../records/audit-log.ts'
import type { AuditLog, AuditNote } from '../store.ts'
import { prepareIn } from './database.ts'
import type { Connection } from './driver.ts'

const CHANGES = 'select total_changes()'

/** Adds audit entries to the changes of an audited action. */
export interface AuditRecorder {
  during: AuditLog['during']
  put(entry: AuditEntry): void
  /** Change → the same change, which also writes the entry of its action if it changes anything. */
  accompany<T>(change: () => T): () => T
}

/** The current action is passed through AsyncLocalStorage, not as an argument of thirty store methods: a new method
 *  could omit the argument, but every write goes through the writer. */
export function createAuditRecorder(db: Connection): AuditRecorder {
  const insert = prepareIn(db, PUT_AUDIT)
  const changes = db.prepare(CHANGES).pluck()
  const underWay = new AsyncLocalStorage<AuditNote>()
  const put = (entry: AuditEntry) => {
    insert.run(auditValues(entry))
  }
  return {
    put,
    during: (note, work) => underWay.run(note, work),
    accompany: (change) => {
      const note = underWay.getStore()
      if (note === undefined) return change
      return () => {
        const before = changes.get()
        const value = change()
        if (changes.get() !== before) {
          put(note.entry())
          note.isKept = true
        }
        return value
      }
    },
  }
}
