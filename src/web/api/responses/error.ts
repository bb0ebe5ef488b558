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
      details: z
        .looseObject({ request_id: z.string(), docs: z.string() })
        .describe('Always contains the request ID, and the path of the manual that explains the code.'),
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
    details: { request_id: 'req_01m7ykx6js1zy8zpzy8z8cwhzy', docs: '/manual/errors#validation_error' },
    errors: [{ field: 'to', message: 'to is required' }],
  },
}

/** What an error code says, and what the caller should do, in CommonMark. */
export interface ErrorFacts {
  cause: string
  fix: string
}

/** Every error code. OpenAPI document and manual have their lists from here. */
export const ERRORS: Record<RefusalReason, ErrorFacts> = {
  validation_error: {
    cause: 'The request is invalid. `errors` lists every invalid field; an unknown field is invalid, too.',
    fix: 'Correct the fields before you retry. With `details.reason` `download_failed`, retry when the file is available.',
  },
  unauthorized: {
    cause:
      'The API key is missing, unknown, revoked or expired, or the request comes from an address outside its `allowed_networks`. The text is the same for each cause, so that it does not reveal which keys exist.',
    fix: 'Send `Authorization: Bearer svc_…` with a valid key. Create one in the dashboard or with `postrider key create`.',
  },
  forbidden: {
    cause: 'The key lacks the permission, or the record belongs to another organization or domain.',
    fix: 'Use a key with the permission in `details.required`, of the domain that `from` or the record belongs to.',
  },
  not_found: {
    cause: 'The record or path does not exist, or a test key asked for a live record.',
    fix: 'Check the ID and the path, and use a key of the same mode as the record.',
  },
  method_not_allowed: {
    cause: 'The path does not support this method.',
    fix: 'Use a method that the header `Allow` lists.',
  },
  conflict: {
    cause:
      'The record already exists. Or the Idempotency-Key was used with a different body (`details.reason` is `idempotency_key_reused`), or its first request is still running (`request_in_progress`).',
    fix: 'Use the existing record. Send another Idempotency-Key with another body; repeat a running request later.',
  },
  payload_too_large: {
    cause: 'The request body, or the message composed from it, is too large.',
    fix: 'Send less than `details.limit_bytes`: link to large files in place of attaching them, and split batches.',
  },
  request_timeout: {
    cause:
      'The body arrived too slowly: less than 16 KiB in 30 seconds, or for more than five minutes. The server did nothing.',
    fix: 'Send it again, over a faster connection.',
  },
  domain_not_verified: {
    cause: 'Live sending requires a domain whose DKIM records are published and verified.',
    fix: 'Publish the records of the domain, then check them in the dashboard or with `postrider dns check`. A test key needs no records.',
  },
  template_error: {
    cause: 'The template cannot be rendered: `details.variable` is missing, or rendering exceeds a limit.',
    fix: 'Send the variable, or give it a default in the template. Send the rest of a batch separately.',
  },
  quota_exceeded: {
    cause: 'A limit of the plan is reached. `details` has `limit`, `used` and `resets_at`.',
    fix: 'Wait until `resets_at`, remove records that you do not need, or choose a larger plan.',
  },
  invalid_state: {
    cause: 'Not allowed in the current state, for example cancelling a message that was already sent.',
    fix: 'Read the record first. A message can be cancelled until it is sent, and rescheduled while it is scheduled.',
  },
  rate_limited: {
    cause: 'The plan’s requests per minute are used up.',
    fix: 'Wait `Retry-After` seconds, then repeat the request. Send many messages with one batch.',
  },
  internal_error: {
    cause: 'An unexpected server error.',
    fix: 'Retry with the same Idempotency-Key. If it stays, give the operator `details.request_id`.',
  },
  unavailable: {
    cause: 'The server is shutting down or cannot store data.',
    fix: 'Retry after `Retry-After` seconds with the same Idempotency-Key.',
  },
}

/** Error code → its cause and fix, as one text. */
export const meaningOf = (code: RefusalReason) => `${ERRORS[code].cause} ${ERRORS[code].fix}`
