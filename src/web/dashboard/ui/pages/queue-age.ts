import { msSince } from '../kit/format.ts'

/** When mail in the queue is overdue. */

/** As of the alert `queue_age`: the server cannot keep up, or something is wrong with it. */
const OVERDUE_MS = 10 * 60_000

/** ISO 8601 of when an entry of the queue was due → whether it should have been tried long ago. */
export const isOverdue = (dueAt: string) => msSince(dueAt) > OVERDUE_MS
