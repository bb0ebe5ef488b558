import type { Part } from './part.ts'
import { measureSize, SIZE_PARTS } from './size.ts'

/** The targets of size.ts for the folder given with `--data`, in the table of the others. In the first round only:
 *  it has its own medians, and retention removes a day of the folder each time. */
export const waiting: Part = {
  name: 'size',
  measure: async ({ data, round, note }, binary) => {
    if (data === null) throw new Error('give a folder with --data; it is seeded where it is empty')
    if (round > 0) return
    for (const part of SIZE_PARTS) {
      for (const { figure, value, mark } of await measureSize(part, { binary: binary.file, folder: data })) {
        note(
          binary,
          { what: `a million waiting: ${figure}`, ...(mark !== undefined && { mark: { atMost: mark } }) },
          value,
        )
      }
    }
  },
}
