import { StoreUnavailable } from '../errors.ts'
import { Refused } from './connection.ts'

/** SQLSTATEs (manual, appendix A): serialization failure, deadlock, lock timeout, statement timeout. */
export const COLLISION = new Set(['40001', '40P01', '55P03', '57014'])
/** Disk full, out of memory, too many connections. */
export const NO_RESOURCES = new Set(['53100', '53200', '53300'])

/** Error → StoreUnavailable if waiting may help; any other error is returned unchanged. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof Refused)) return error
  if (!NO_RESOURCES.has(error.code) && !COLLISION.has(error.code)) return error
  return new StoreUnavailable(`the database refused the statement: ${error.code}`, {
    cause: error,
    isFull: error.code === '53100',
  })
}
