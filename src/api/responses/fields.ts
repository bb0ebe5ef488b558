import { z } from 'zod'
import type { IdPrefix } from '../../os/ids.ts'
import type { ResponseShape } from '../operation.ts'

/** What the schemas of answers have in common, and the examples of the whole document. */

/** Ids of one example world: whatever refers to a domain refers to the same one. */
export function exampleId(prefix: IdPrefix): string {
  return `${prefix}_01m7ykx6js1zy8zpzy8z8cwhzy`
}
export const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'
export const EXAMPLE_LATER = '2026-11-21T12:05:00.000Z'

export function id(prefix: IdPrefix) {
  return z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`))
}

/** ISO 8601 UTC with milliseconds. */
export const time = z.string().meta({ format: 'date-time' })
export const timeOrNull = time.nullable()
export const count = z.int().min(0)
export const mode = z.enum(['live', 'test'])
/** `{"order": "1001", "total": 12.5, "gift": true}` */
export const metadata = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

/** Schema of a record, and one of them → the one page of it that a list answers (page.ts). */
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

/** What DELETE answers. */
export function deletedShape(prefix: IdPrefix, description: string): ResponseShape {
  return { status: 200, description, schema: deletion, example: { id: exampleId(prefix), deleted: true } }
}

const deletion = z.strictObject({ id: z.string(), deleted: z.literal(true) }).meta({ id: 'Deletion' })
