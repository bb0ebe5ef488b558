import { z } from 'zod'
import { ROLES } from '../../../model/user.ts'
import type { ResponseShape } from '../operation.ts'
import {
  count,
  deletedShape,
  EXAMPLE_LATER,
  EXAMPLE_TIME,
  exampleId,
  id,
  pageShape,
  time,
  timeOrNull,
} from './fields.ts'
import { sessionResponses } from './sessions.ts'
import { mailFields, mailRecord } from './user-mail.ts'

/** Responses of `/v1/users`; routes/users.ts builds the record. */

const grants = {
  is_operator: z.boolean().describe('Operators have all rights in all organizations.'),
  roles: z
    .array(z.strictObject({ organization_id: id('org'), role: z.enum(ROLES) }))
    .describe('The role in your organization. Operators see all roles of the user.'),
}
const user = z
  .strictObject({
    id: id('usr'),
    email: z.string().nullable().describe('Lower case. null: the first operator has set none yet.'),
    email_verified_at: timeOrNull.describe(
      'When somebody proved that the address is the user’s. null: only the role in the organization that invited the user is in effect.',
    ),
    name: z.string(),
    ...grants,
    awaiting: z
      .strictObject(grants)
      .describe('Granted, and in effect once the address is verified. The user then signs in again.'),
    two_step: z.boolean().describe('Sign-in with a password also needs a code from an app.'),
    passkeys: count.describe('How many passkeys the user can sign in with.'),
    created_at: time,
    last_seen_at: timeOrNull.describe('Accurate to one minute.'),
    disabled_at: timeOrNull,
  })
  .meta({ id: 'User' })
const example = {
  id: exampleId('usr'),
  email: 'ann@example.com',
  email_verified_at: EXAMPLE_TIME,
  name: 'Ann',
  is_operator: false,
  roles: [{ organization_id: exampleId('org'), role: 'developer' }],
  awaiting: { is_operator: false, roles: [] },
  two_step: true,
  passkeys: 1,
  created_at: EXAMPLE_TIME,
  last_seen_at: EXAMPLE_LATER,
  disabled_at: null,
}
const reset = z
  .strictObject({
    id: id('usr'),
    url: z.string().describe('Only the user may read it.'),
    expires_at: time,
    ...mailFields,
  })
  .meta({ id: 'PasswordLink' })
const resetExample = {
  id: exampleId('usr'),
  url: 'https://mail.example.com/dashboard/sign-in#reset=ExampleExampleExampleExampleExampleExamp',
  expires_at: EXAMPLE_LATER,
  ...mailRecord(null),
}

export const userResponses = {
  list: [pageShape(user, example, 'Users, newest first.')],
  one: [{ status: 200, description: 'The user.', schema: user, example }],
  created: [{ status: 201, description: 'The user.', schema: user, example }],
  deleted: [deletedShape('usr', 'The user is removed.')],
  sessions: sessionResponses.list,
  signedOut: [deletedShape('usr', 'All sessions of the user are ended.')],
  reset: [{ status: 201, description: 'The link.', schema: reset, example: resetExample }],
} satisfies Record<string, ResponseShape[]>
