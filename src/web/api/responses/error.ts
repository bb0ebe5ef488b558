import { z } from 'zod'
import type { RefusalReason } from '../../../model/refusal.ts'
import { keysOf } from '../../../os/records.ts'
import { STATUS_OF } from '../errors.ts'

/** Schema of the body of every error (errors.ts builds it), and the meaning of each code. */

const CODES = keysOf(STATUS_OF)

export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(CODES),
      message: z.string().describe('Human-readable. The wording may change.'),
      field: z.string().optional().describe('The first invalid field, for example `attachments[0].content`.'),
      details: z.looseObject({ request_id: z.string() }).describe('Always contains the request ID.'),
      errors: z
        .array(z.strictObject({ field: z.string(), message: z.string() }))
        .optional()
        .describe('For `validation_error`: every invalid field.'),
      retry_after: z.int().optional().describe('For `rate_limited`: seconds to wait, same as `Retry-After`.'),
    }),
  })
  .meta({ id: 'Error' })

export const errorExample = {
  error: {
    code: 'validation_error',
    message: 'to is required',
    field: 'to',
    details: { request_id: 'req_01m7ykx6js1zy8zpzy8z8cwhzy' },
    errors: [{ field: 'to', message: 'to is required' }],
  },
}

/** Error code → its meaning and what the caller should do, in CommonMark. */
export const MEANING: Record<RefusalReason, string> = {
  validation_error: 'The request is invalid. `errors` lists every invalid field. Fix the request before you retry.',
  unauthorized: 'The API key is missing, unknown, revoked or expired.',
  forbidden: 'The key lacks the permission, or the record belongs to another organization or domain.',
  not_found: 'The record or path does not exist.',
  method_not_allowed: 'The path does not support this method. `Allow` lists the supported ones.',
  conflict:
    'The record already exists. Or the Idempotency-Key was used with a different body (`details.reason` is `idempotency_key_reused`), or its first request is still running (`request_in_progress`).',
  payload_too_large: 'The request body, or the message composed from it, is too large.',
  request_timeout:
    'The body arrived too slowly: less than 16 KiB in 30 seconds, or for more than five minutes. The server did nothing. Send it again.',
  domain_not_verified: 'Live sending requires a domain whose DKIM records are published and verified.',
  template_error: 'The template cannot be rendered: `details.variable` is missing, or rendering exceeds a limit.',
  quota_exceeded: 'A limit of the plan is reached. `details` has `limit`, `used` and `resets_at`.',
  invalid_state: 'Not allowed in the current state, for example cancelling a message that was already sent.',
  rate_limited: 'The plan’s requests per minute are used up. Wait `Retry-After` seconds.',
  internal_error: 'An unexpected server error. Retry with the same Idempotency-Key.',
  unavailable: 'The server is shutting down or cannot store data. Retry after `Retry-After` seconds.',
}
