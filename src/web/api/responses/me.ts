import { z } from 'zod'
import { PERMISSIONS } from '../../../model/api-key.ts'
import { ROLES } from '../../../model/user.ts'
import type { ResponseShape } from '../operation.ts'
import { exampleId, id, mode } from './fields.ts'

/** Response of `/v1/me`; routes/me.ts builds it. */
const me = z
  .strictObject({
    organization_id: id('org').nullable().describe('Null for an operator who has not selected an organization.'),
    organization: z.string().nullable().describe('Its name.'),
    domain_id: id('dom').nullable().describe('Null for a session that has not selected a domain.'),
    domain: z.string().nullable().describe('Its name. `from` must be an address at this domain.'),
    key_id: id('key').optional(),
    permissions: z.array(z.enum(PERMISSIONS)).optional(),
    user_id: id('usr').optional(),
    role: z
      .enum([...ROLES, 'operator'])
      .nullable()
      .optional(),
    mode,
    plan: z.string().nullable(),
    requests_per_minute: z
      .int()
      .min(-1)
      .nullable()
      .describe('-1 = unlimited. Null: the plan is no longer in the config.'),
  })
  .meta({ id: 'Me' })

export const meResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The caller.',
    schema: me,
    example: {
      organization_id: exampleId('org'),
      organization: 'Example Shop',
      domain_id: exampleId('dom'),
      domain: 'example.com',
      key_id: exampleId('key'),
      permissions: ['send'],
      mode: 'live',
      plan: 'starter',
      requests_per_minute: 300,
    },
  },
]
