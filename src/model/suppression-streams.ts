import { TRANSACTIONAL } from './message.ts'
import type { Suppression } from './suppression.ts'

/** Whether a suppression stops mail of a stream. The stores have the same rule in SQL. */
export function countsFor({ stream, reason }: Pick<Suppression, 'stream' | 'reason'>, mail: string): boolean {
  return stream === null || stream === mail || (reason === 'complaint' && mail !== TRANSACTIONAL)
}
