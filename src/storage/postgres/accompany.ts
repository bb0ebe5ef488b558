import type { MailInside } from '../mail/inside.ts'
import { type AuditedAction, accompany } from '../records/audit-log.ts'
import type { Step, Work } from '../sql.ts'

/** A work → the same, which also writes the entry of the audited action of the caller, if it changes anything. */
export function accompanied<T>(
  action: AuditedAction,
  work: (inside: MailInside) => Work<T>,
): (inside: MailInside) => Work<T> {
  const note = action.getStore()
  if (note === undefined) return work
  const { isKept } = note
  return function* (inside) {
    note.isKept = isKept // what an earlier try wrote was rolled back
    let hasWritten = false
    const steps = work(inside)
    let next = steps.next()
    while (next.done !== true) {
      const answer: unknown = yield next.value
      hasWritten ||= writes(next.value, answer)
      next = steps.next(answer)
    }
    if (hasWritten) yield* accompany(note)
    return next.value
  }
}

function writes(step: Step, answer: unknown): boolean {
  if (step.wants === 'count') return answer !== 0
  if (step.wants === 'each' && !step.isRead) return step.given.length > 0
  if (step.wants === 'together')
    return step.steps.some((each, at) => each !== null && writes(each, (answer as unknown[])[at])) // of each
  if (step.wants !== 'each' && step.wants !== 'rows') return false
  return IS_WRITING.test(step.statement.text) && (answer as unknown[]).length > 0 // their rows
}

const IS_WRITING = /^(insert|update|delete)/
