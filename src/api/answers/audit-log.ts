import { z } from 'zod'
import type { AnswerShape } from '../operation.ts'
import { EXAMPLE_TIME, exampleId, id, pageShape, time } from './words.ts'

/** What `/v1/audit-log` answers; the record is made in routes/audit-log.ts. */

const entry = z
  .strictObject({
    id: id('aud'),
    created_at: time,
    actor: z.strictObject({
      type: z.enum(['api_key', 'operator', 'server']),
      id: z.string().describe('Of the key; `operator` for whoever runs this server.'),
      name: z.string().describe("The key's name at that time; of an operator the local user."),
    }),
    action: z.string().describe('The operation, by its `operationId`.'),
    resource_id: z.string().nullable().describe('What it was done to, or what it made.'),
    created_id: z.string().nullable().describe('What came of it, when that is another: the new key of a rotation.'),
    fields: z.array(z.string()).describe('Names of the fields that were given, never their values.'),
    ip_address: z.string().nullable().describe('Of the client; null at the command line.'),
    outcome: z
      .string()
      .describe('`done`, `repeated` (an Idempotency-Key brought the first answer again), or the code of the error.'),
    request_id: z.string(),
  })
  .meta({ id: 'AuditEntry' })
const example = {
  id: exampleId('aud'),
  created_at: EXAMPLE_TIME,
  actor: { type: 'api_key', id: exampleId('key'), name: 'shop' },
  action: 'webhooks_update',
  resource_id: exampleId('whk'),
  created_id: null,
  fields: ['status'],
  ip_address: '192.0.2.17',
  outcome: 'done',
  request_id: exampleId('req'),
}

export const auditLogAnswers: AnswerShape[] = [pageShape(entry, example, 'Entries, newest first.')]
