import { DELIVERY_STATUSES, isFinal } from '../model/message.ts'

/** Statuses of a delivery that has ended, as a list for SQL. */
export const FINAL_STATUSES = DELIVERY_STATUSES.filter(isFinal)
  .map((status) => `'${status}'`)
  .join(', ')
