import type { Attempt } from '../../model/delivery.ts'
import { insertInto } from './each.ts'

export interface NewAttempt {
  deliveryNumber: number
  attempt: Attempt
}

/** With the change that records their outcome. */
export const ADD_ATTEMPTS = insertInto<NewAttempt>(
  'attempts',
  {
    delivery_number: ['bigint', ({ deliveryNumber }) => deliveryNumber],
    number: ['int', ({ attempt }) => attempt.number],
    started_at: ['bigint', ({ attempt }) => attempt.startedAt],
    duration_ms: ['bigint', ({ attempt }) => attempt.durationMs],
    outcome: ['text', ({ attempt }) => attempt.outcome],
    facts: ['text', ({ attempt }) => factsOf(attempt)],
  },
  'on conflict do nothing',
)

function factsOf({ number: _, startedAt: __, durationMs: ___, outcome: ____, ...facts }: Attempt): string {
  return JSON.stringify(facts)
}

/** Of `attempts a`: it found a host. Quotes in other facts are escaped. Not by the operators for JSON: PostgreSQL refuses
 *  `\u0000`, which a transcript may have. */
export const HAS_HOST = `strpos(a.facts, '"mxHost":"') > 0`

/** Stored facts of an attempt → its host; null if it found none. */
export function hostIn(facts: string): string | null {
  const { mxHost }: Pick<Attempt, 'mxHost'> = JSON.parse(facts) // of factsOf
  return mxHost
}
