import type { RefusalReason } from '../../../model/refusal.ts'
import { STATUS_OF } from '../errors.ts'
import type { Operation } from '../operation.ts'

/** Operation → all its error codes by HTTP status: those of the request pipeline (flow.ts), those that follow from its
 *  definition, and its own `refusals`. */
export function refusalsOf(operation: Operation): Map<number, RefusalReason[]> {
  const { path, body, idempotent, refusals = [] } = operation
  const codes: RefusalReason[] = ['validation_error', 'unauthorized', 'forbidden']
  if (path.includes(':')) codes.push('not_found')
  if (idempotent) codes.push('conflict')
  if (body !== undefined) codes.push('payload_too_large', 'request_timeout')
  codes.push(...refusals, 'rate_limited', 'internal_error', 'unavailable')
  const byStatus = Map.groupBy([...new Set(codes)].sort(), (code) => STATUS_OF[code])
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}
