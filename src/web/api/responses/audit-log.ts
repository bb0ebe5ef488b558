import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/audit-log`; routes/audit-log.ts builds the record. */

const entry = z
  .strictObject({
    id: id('aud'),
    created_at: time,
    actor: z.strictObject({
      type: z.enum(['api_key', 'user', 'operator', 'server']),
      id: z.string().describe('ID of the API key or the user; `operator` for a command on the server.'),
      name: z
        .string()
        .describe('Name of the key at that time, email address of the user, or local user name of the command.'),
    }),
    action: z.string().describe('The `operationId` of the operation.'),
    resource_id: z.string().nullable().describe('The record that was changed or created.'),
    created_id: z
      .string()
      .nullable()
      .describe('The resulting record if it is a different one, for example the new key of a rotation.'),
    fields: z.array(z.string()).describe('Names of the fields in the request, never their values.'),
    ip_address: z.string().nullable().describe('IP address of the client; null for the command line.'),
    outcome: z
      .string()
      .describe('`done`, `repeated` (an Idempotency-Key returned the original response), or the error code.'),
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

export const auditLogResponses: ResponseShape[] = [pageShape(entry, example, 'Entries, newest first.')]
