import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_LATER, EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/sessions`; routes/sessions.ts builds the record. */

const session = z
  .strictObject({
    id: id('ses'),
    user_id: id('usr'),
    created_at: time,
    last_seen_at: time.describe('Accurate to one minute.'),
    ends_at: time.describe('Sessions expire after seven days without use, and after 30 days at the latest.'),
    ip_address: z.string().nullable().describe('IP address of the sign-in.'),
    user_agent: z.string(),
  })
  .meta({ id: 'Session' })
const example = {
  id: exampleId('ses'),
  user_id: exampleId('usr'),
  created_at: EXAMPLE_TIME,
  last_seen_at: EXAMPLE_LATER,
  ends_at: '2026-11-28T12:05:00.000Z',
  ip_address: '192.0.2.17',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0',
}

export const sessionResponses = {
  list: [pageShape(session, example, 'Active sessions, newest first.')],
  deleted: [deletedShape('ses', 'The session is ended.')],
} satisfies Record<string, ResponseShape[]>
