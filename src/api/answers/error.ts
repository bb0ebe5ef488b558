import { z } from 'zod'
import type { RefusalReason } from '../../model/refusal.ts'
import { STATUS_OF } from '../errors.ts'

/** What every error looks like (errors.ts makes it), and what each code means to the caller. */

const CODES = Object.keys(STATUS_OF) as [RefusalReason, ...RefusalReason[]]

export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(CODES),
      message: z.string().describe('For people; may change.'),
      field: z.string().optional().describe('The first field at fault: `attachments[0].content`.'),
      details: z.looseObject({ request_id: z.string() }).describe('Always with the id of the request.'),
      errors: z
        .array(z.strictObject({ field: z.string(), message: z.string() }))
        .optional()
        .describe('With `validation_error`: every field at fault.'),
      retry_after: z.int().optional().describe('With `rate_limited`: seconds, the same as `Retry-After`.'),
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

/** Code → its meaning, and what to do about it. */
export const MEANING: Record<RefusalReason, string> = {
  validation_error:
    'Something in the request is not as it should be; every bad field is named. Do not repeat it as it is.',
  unauthorized: 'No key, or one that is unknown, revoked or expired.',
  forbidden: 'The key lacks the permission, or what was asked for belongs to another organization or domain.',
  not_found: 'There is no such thing, or no such path.',
  method_not_allowed: 'This path takes other methods; `Allow` names them.',
  conflict:
    'It exists already, or the Idempotency-Key was used with another body (`details.reason` `idempotency_key_reused`) or is still at work (`request_in_progress`).',
  payload_too_large: 'The body, or the message composed of it, is too large.',
  domain_not_verified: 'A live key sends only from a domain whose DKIM record was seen in DNS.',
  template_error: 'The template cannot be filled in: `details.variable` is missing, or it does too much.',
  quota_exceeded: 'The plan allows no more; `details` has `limit`, `used` and `resets_at`.',
  invalid_state: 'Not in this state: what was sent cannot be cancelled.',
  rate_limited: 'More requests a minute than the plan allows. Wait `Retry-After` seconds.',
  internal_error: 'A fault of ours. Repeat it, with the same Idempotency-Key.',
  unavailable: 'Shutting down, or nothing can be stored. Repeat it after `Retry-After` seconds.',
}
