import type { Queries } from './transactions.ts'

/** Each group holds the row of its lane until its commit (transactions.ts). */
const WAIT = 'select id from lanes where ended_at is null for share'

/** Resolves when every group of changes that is under way on any node is decided. After a change of settings, nothing
 *  is written later by what was in memory before. */
export async function groupsSettled({ query }: Queries): Promise<void> {
  await query(WAIT)
}
