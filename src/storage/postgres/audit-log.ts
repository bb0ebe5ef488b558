import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditEntry } from '../../model/audit-entry.ts'
import { auditValues, PUT_AUDIT } from '../records/audit-log.ts'
import type { AuditLog, AuditNote } from '../store.ts'
import type { Statements } from './transactions.ts'
import type { Accompany } from './writer.ts'

/** Adds audit entries to the changes of an audited action. */
export interface AuditRecorder {
  during: AuditLog['during']
  put(statements: Statements, entry: AuditEntry): Promise<void>
  accompany: Accompany
}

/** The current action is passed through AsyncLocalStorage: a method of the store could omit an argument, but every
 *  write goes through the writer. */
export function createAuditRecorder(): AuditRecorder {
  const underWay = new AsyncLocalStorage<AuditNote>()
  const put = async ({ run }: Statements, entry: AuditEntry) => {
    await run(PUT_AUDIT.text, auditValues(entry))
  }
  return {
    put,
    during: (note, work) => underWay.run(note, work),
    accompany: (change) => {
      const note = underWay.getStore()
      if (note === undefined) return change
      return async (statements) => {
        let written = 0
        const value = await change({
          ...statements,
          run: async (text, values) => {
            const count = await statements.run(text, values)
            written += count
            return count
          },
        })
        if (written > 0) {
          await put(statements, note.entry())
          note.isKept = true
        }
        return value
      }
    },
  }
}
