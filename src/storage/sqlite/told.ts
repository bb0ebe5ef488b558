import type { SuppressionReason } from '../../model/suppression.ts'
import type { SuppressInside } from './suppressions.ts'

/** Who hears of writing, once it is durable. Neither may throw. */
export interface Told {
  /** A transaction of the writer took so long. */
  committed(ms: number): void
  suppressed(reason: SuppressionReason): void
}

/** Keeps what a transaction suppressed until it is known to stand. */
export function createTelling(told: Told | undefined) {
  let suppressed: SuppressionReason[] = []
  return {
    hearing:
      (suppress: SuppressInside): SuppressInside =>
      (suppression) => {
        const isNew = suppress(suppression)
        if (isNew) suppressed.push(suppression.reason)
        return isNew
      },
    committed: (ms: number) => {
      told?.committed(ms)
      for (const reason of suppressed) told?.suppressed(reason)
      suppressed = []
    },
    forget: () => {
      suppressed = []
    },
  }
}
