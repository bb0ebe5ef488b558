/** Steps that undo what was opened so far, in the order of opening. A failed start runs them last to first. */
export type Rollback = (() => unknown)[]

export async function runRollback(rollback: Rollback): Promise<void> {
  for (const step of rollback.reverse()) await step()
}
