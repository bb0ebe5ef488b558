/** An expected refusal. The API turns it into a JSON error (web/api/errors.ts), the SMTP listeners into a reply. Callers
 *  see `message` and `details`, so they contain no secret, no path and nothing of another organization. */
export class Refusal extends Error {
  readonly reason: RefusalReason
  readonly field: string | undefined
  readonly details: Record<string, unknown> | undefined
  readonly faults: FieldFault[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(reason: RefusalReason, message: string, extra: RefusalExtra = {}) {
    super(message)
    this.name = 'Refusal'
    this.reason = reason
    this.field = extra.field
    this.details = extra.details
    this.faults = extra.faults
    this.retryAfterSeconds = extra.retryAfterSeconds
  }
}

export interface RefusalExtra {
  field?: string
  details?: Record<string, unknown>
  faults?: FieldFault[]
  retryAfterSeconds?: number
}

export interface FieldFault {
  field: string
  message: string
}

/** Every `error.code` of the API. */
export type RefusalReason =
  | 'unauthorized'
  | 'forbidden'
  | 'validation_error'
  | 'rate_limited'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'request_timeout'
  | 'domain_not_verified'
  | 'template_error'
  | 'quota_exceeded'
  | 'invalid_state'
  | 'internal_error'
  | 'unavailable'

/** Faults of single fields → one refusal that lists all of them, with the first as `field`. */
export function invalid(faults: FieldFault[]): Refusal {
  const [first, ...others] = faults
  const message = first !== undefined && others.length === 0 ? first.message : `${faults.length} fields are invalid`
  return new Refusal('validation_error', message, { field: first?.field, faults })
}
