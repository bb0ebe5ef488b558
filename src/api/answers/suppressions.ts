import { z } from 'zod'
import { SUPPRESSION_REASONS } from '../../model/suppression.ts'
import type { AnswerShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time } from './words.ts'

/** What `/v1/suppressions` answers (contract §5); the record is made in routes/suppressions.ts. */

export const suppression = z
  .strictObject({
    id: id('sup'),
    email: z.string(),
    reason: z.enum(SUPPRESSION_REASONS),
    domain_id: id('dom').nullable().describe('Null = the whole organization.'),
    message_id: id('msg').nullable().describe('The message that led to it.'),
    created_at: time,
  })
  .meta({ id: 'Suppression' })
const example = {
  id: exampleId('sup'),
  email: 'please-stop@customer.example',
  reason: 'manual',
  domain_id: null,
  message_id: null,
  created_at: EXAMPLE_TIME,
}

export const suppressionAnswers: AnswerShape[] = [
  { status: 200, description: 'The suppression.', schema: suppression, example },
]
export const suppressionCreatedAnswers: AnswerShape[] = [
  { status: 201, description: 'The address gets no more mail.', schema: suppression, example },
]
export const suppressionListAnswers = [pageShape(suppression, example, 'Suppressions, newest first.')]
export const suppressionDeletedAnswers = [deletedShape('sup', 'The address gets mail again.')]
