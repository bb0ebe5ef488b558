import { z } from 'zod'
import { invalid } from '../../../model/refusal.ts'
import { tableOf } from '../../../os/records.ts'

/** The ID of the path, repeated in the body of a PATCH: Resend's Python client sends its whole argument, including
 *  `id` or `webhook_id`. */
export function repeatedId<const Name extends string>(...names: Name[]) {
  return tableOf(names, () => z.string().optional())
}

/** Throws 422 if the body contains a different ID than the path. */
export function requireSameId({ id }: Record<string, string>, repeated: Record<string, string | undefined>): void {
  for (const [field, other] of Object.entries(repeated)) {
    if (other === undefined || other === id) continue
    throw invalid([{ field, message: `${field} must match the ID in the path` }])
  }
}
