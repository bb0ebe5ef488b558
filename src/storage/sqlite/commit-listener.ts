import { isOnDemand } from '../../model/event.ts'
import type { SuppressionReason } from '../../model/suppression.ts'
import type { CommitListener } from '../commit-listener.ts'
import type { AppendInside } from './fan-out.ts'
import type { SuppressInside } from './suppressions.ts'

/** Collects what a transaction writes and reports it after the commit. */
export function createCommitReports(commitListener: CommitListener | undefined) {
  let suppressed: SuppressionReason[] = []
  let happened = new Set<string>()
  let areOnDemand = false
  return {
    suppressing:
      (suppress: SuppressInside): SuppressInside =>
      (suppression, at) => {
        const isNew = suppress(suppression, at)
        if (isNew) suppressed.push(suppression.reason)
        return isNew
      },
    appending:
      (append: AppendInside): AppendInside =>
      (event, how) => {
        append(event, how)
        happened.add(event.organizationId)
        areOnDemand ||= isOnDemand(event.type)
      },
    committed: (ms: number) => {
      commitListener?.committed(ms)
      for (const reason of suppressed) commitListener?.suppressed(reason)
      suppressed = []
      if (happened.size === 0) return
      commitListener?.happened?.(happened)
      happened = new Set()
      if (areOnDemand) commitListener?.onDemand?.()
      areOnDemand = false
    },
    drop: () => {
      suppressed = []
      happened.clear()
      areOnDemand = false
    },
  }
}
