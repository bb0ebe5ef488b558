import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** What `/v1/organizations` answers; the record is made in routes/organizations.ts. */

const organization = z
  .strictObject({ id: id('org'), name: z.string(), plan: z.string(), created_at: time })
  .meta({ id: 'Organization' })
const example = { id: exampleId('org'), name: 'Shop', plan: 'starter', created_at: EXAMPLE_TIME }

const one = (status: number, description: string): ResponseShape[] => [
  { status, description, schema: organization, example },
]
export const organizationResponses = {
  list: [pageShape(organization, example, 'Organizations, newest first.')],
  created: one(201, 'The organization.'),
  one: one(200, 'The organization.'),
}
