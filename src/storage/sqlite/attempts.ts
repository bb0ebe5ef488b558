import type { Attempt } from '../../model/delivery.ts'
import type { Connection } from './driver.ts'

const ADD = `insert into attempts (delivery_number, number, started_at, duration_ms, outcome, facts)
  values (?, ?, ?, ?, ?, ?) on conflict do nothing`

/** Writes an attempt inside the change that records its outcome. */
export type AddAttemptInside = (deliveryNumber: number | bigint, attempt: Attempt) => void

export function addAttemptInside(db: Connection): AddAttemptInside {
  const add = db.prepare(ADD)
  return (deliveryNumber, { number, startedAt, durationMs, outcome, ...facts }) => {
    add.run(deliveryNumber, number, startedAt, durationMs, outcome, JSON.stringify(facts))
  }
}

export type AttemptRow = Pick<Attempt, 'number' | 'startedAt' | 'durationMs' | 'outcome'> & { facts: string }

export function toAttempt({ number, startedAt, durationMs, outcome, facts }: AttemptRow): Attempt {
  return { number, startedAt, durationMs, outcome, ...JSON.parse(facts) }
}
