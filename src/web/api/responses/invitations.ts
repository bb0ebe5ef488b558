import { z } from 'zod'
import { ROLES } from '../../../model/user.ts'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'
import { mailFields, mailRecord } from './user-mail.ts'

/** Responses of `/v1/invitations`; routes/invitations.ts builds the record. */

const fields = {
  id: id('inv'),
  email: z.string(),
  role: z.enum(ROLES),
  invited_by: z.string().describe('ID of a user or an API key, or `operator`.'),
  created_at: time,
  expires_at: time,
}
const invitation = z.strictObject(fields).meta({ id: 'Invitation' })
const created = z
  .strictObject({
    ...fields,
    url: z.string().nullable().describe('Shown only once, for the person you invite. Null: you may not see it.'),
    ...mailFields,
  })
  .meta({ id: 'CreatedInvitation' })
const example = {
  id: exampleId('inv'),
  email: 'bob@example.com',
  role: 'support',
  invited_by: exampleId('usr'),
  created_at: EXAMPLE_TIME,
  expires_at: '2026-11-28T12:00:00.000Z',
}
const url = 'https://mail.example.com/dashboard/sign-in#invitation=ExampleExampleExampleExampleExampleExamp'

export const invitationResponses = {
  list: [pageShape(invitation, example, 'Open invitations, newest first.')],
  created: [
    { status: 201, description: 'The invitation.', schema: created, example: { ...example, url, ...mailRecord(null) } },
  ],
  deleted: [deletedShape('inv', 'The link stops working.')],
} satisfies Record<string, ResponseShape[]>
