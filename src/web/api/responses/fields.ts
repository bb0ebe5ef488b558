import { z } from 'zod'
import type { IdPrefix } from '../../../os/ids.ts'
import type { ResponseShape } from '../operation.ts'

/** Fields that several response schemas share, and the example values of the OpenAPI document. */

/** ID prefix → the ID of that kind in all examples. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01m7ykx6js1zy8zpzy8z8cwhzy`
}
export const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'
export const EXAMPLE_LATER = '2026-11-21T12:05:00.000Z'

/** ID prefix → schema of an ID of that kind. */
export function id(prefix: IdPrefix) {
  return z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`))
}

/** Schema of a time: ISO 8601 in UTC with milliseconds. */
export const time = z.string().meta({ format: 'date-time' })
export const timeOrNull = time.nullable()
export const count = z.int().min(0)
export const mode = z.enum(['live', 'test'])
/** Schema of metadata: `{"order": "1001", "total": 12.5, "gift": true}` */
export const metadata = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

/** Schema and example of a record → the 200 response with one page of records (page.ts). */
export function pageShape(schema: z.ZodType, example: unknown, description: string): ResponseShape {
  const page = z.strictObject({
    data: z.array(schema),
    has_more: z.boolean(),
    next_cursor: z
      .string()
      .nullable()
      .describe('Pass it as `cursor` to get the next page, even if this page has few entries. Null on the last page.'),
  })
  return { status: 200, description, schema: page, example: { data: [example], has_more: false, next_cursor: null } }
}

/** ID prefix of a record → the 200 response of its DELETE. */
export function deletedShape(prefix: IdPrefix, description: string): ResponseShape {
  return { status: 200, description, schema: deletion, example: { id: exampleId(prefix), deleted: true } }
}

const deletion = z.strictObject({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'Deletion' })
