import type { Part } from './part.ts'
import { measureSize, SIZE_PARTS } from './size.ts'

/** The goals of size.ts for the folder given with `--data`, in the table of the others. In the first round only:
 *  it has its own medians, and retention removes a day of the folder each time. */
export const waiting: Part = {
  name: 'size',
  measure: async ({ data, round, note }, binary) => {
    if (data === null) throw new Error('missing --data: a folder, which is seeded if it is empty')
    if (round > 0) return
    for (const part of SIZE_PARTS) {
      for (const { figure, value, goal } of await measureSize(part, { binary: binary.file, folder: data })) {
        note(
          binary,
          { what: `a million queued: ${figure}`, ...(goal !== undefined && { goal: { atMost: goal } }) },
          value,
        )
      }
    }
  },
}
