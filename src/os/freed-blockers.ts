/** Blockers that may have ended and that the store was not told about yet (storage/roles/claims.ts). */
export interface FreedBlockers {
  add(names: readonly string[]): void
  /** Tells the store about all of them; without any, it does nothing. Rejects with the store's error, and then keeps
   *  the names for the next call. */
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
