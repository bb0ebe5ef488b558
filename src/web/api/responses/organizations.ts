import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { EXAMPLE_TIME, exampleId, id, pageShape, time } from './fields.ts'

/** Responses of `/v1/organizations`; routes/organizations.ts builds the record. */

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
