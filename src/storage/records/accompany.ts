import type { Step, Work } from '../sql.ts'
import { type AuditedAction, audit } from './audit-log.ts'

/** A work → the same, which also writes the entry of the audited action of the caller, if it changes anything. */
export function accompanied<T, Args extends readonly unknown[]>(
  action: AuditedAction,
  work: (...args: Args) => Work<T>,
): (...args: Args) => Work<T> {
  const note = action.getStore()
  if (note === undefined) return work
  const { isKept } = note
  return function* (...args) {
    note.isKept = isKept // what an earlier try wrote was rolled back
    let hasWritten = false
    const steps = work(...args)
    let next = steps.next()
    while (next.done !== true) {
      const answer: unknown = yield next.value
      hasWritten ||= writes(next.value, answer)
      next = steps.next(answer)
    }
    if (hasWritten) {
      yield* audit(note.entry())
      note.isKept = true
    }
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
