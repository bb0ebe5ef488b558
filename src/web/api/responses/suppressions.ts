import { z } from 'zod'
import { SUPPRESSION_REASONS } from '../../../model/suppression.ts'
import type { ResponseShape } from '../operation.ts'
import { count, deletedShape, EXAMPLE_TIME, exampleId, id, mode, pageShape, time } from './fields.ts'

/** Responses of `/v1/suppressions`; routes/suppressions.ts builds the record. */

export const suppression = z
  .strictObject({
    id: id('sup'),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    domain_id: id('dom').nullable().describe('Null = the whole organization.'),
    stream: z
      .string()
      .nullable()
      .describe(
        'Null = every stream. With the reason `complaint`, it also applies to every other stream except `transactional`.',
      ),
    message_id: id('msg').nullable().describe('The message that caused the suppression.'),
    created_at: time,
    evidence: z.string().nullable().describe('Details from the imported list.'),
    mode: mode.describe(
      '`test`: created by a test key, applies to test messages only. `live` suppressions apply to both.',
    ),
  })
  .meta({ id: 'Suppression' })
const example = {
  id: exampleId('sup'),
  email: 'please-stop@customer.example',
  reason: 'manual',
  domain_id: null,
  stream: null,
  message_id: null,
  created_at: EXAMPLE_TIME,
  evidence: null,
  mode: 'live',
}

export const suppressionResponses: ResponseShape[] = [
  { status: 200, description: 'The suppression.', schema: suppression, example },
]
export const suppressionCreatedResponses: ResponseShape[] = [
  { status: 201, description: 'The address is suppressed.', schema: suppression, example },
]
export const suppressionExportResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The list.',
    contentType: 'text/csv; charset=utf-8',
    schema: z.string(),
    example:
      'email,reason,domain_id,message_id,created_at,evidence,stream\r\nplease-stop@customer.example,manual,,,2026-11-21T12:00:00.000Z,,\r\n',
  },
]
export const suppressionImportResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Number of added addresses, and the entries that were not imported.',
    schema: z
      .strictObject({
        added: count,
        already_there: count,
        passed_over: count.describe('Temporary failures, and people who unsubscribed from one kind of mail only.'),
        bad: count,
        dry_run: z.boolean(),
        errors: z.array(z.strictObject({ number: count, message: z.string() })),
        errors_left_out: count,
      })
      .meta({ id: 'SuppressionImport' }),
    example: {
      added: 1,
      already_there: 0,
      passed_over: 0,
      bad: 1,
      dry_run: false,
      errors: [{ number: 3, message: 'has no email address' }],
      errors_left_out: 0,
    },
  },
]
export const suppressionListResponses = [pageShape(suppression, example, 'Suppressions, newest first.')]
export const suppressionDeletedResponses = [deletedShape('sup', 'The address can receive mail again.')]
