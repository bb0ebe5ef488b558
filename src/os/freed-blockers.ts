/** Blockers that may have ended and that are not reported to the store yet (storage/roles/claims.ts). */
export interface FreedBlockers {
  add(names: readonly string[]): void
  /** Reports all of them to the store; does nothing without any. Rejects with the store's error, and then keeps the
   *  names for the next call. */
  report(): Promise<void>
}

export function createFreedBlockers(queue: { freed(blockers: readonly string[]): Promise<void> }): FreedBlockers {
  const waiting = new Set<string>()
  const add = (names: readonly string[]) => {
    for (const name of names) waiting.add(name)
  }
  return {
    add,
    report: async () => {
      if (waiting.size === 0) return
      const names = [...waiting]
      waiting.clear()
      await queue.freed(names).catch((error) => {
        add(names)
        throw error
      })
    },
  }
}
