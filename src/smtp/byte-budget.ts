/** So many bytes at once, handed out in the order they were asked for. */
export interface ByteBudget {
  /** Resolves when `bytes` are free and everyone who asked before has got theirs; more than the whole budget counts as
   *  the whole. What it resolves with gives them back; twice is harmless. */
  take(bytes: number): Promise<() => void>
  /** The same without waiting: null when they are not free now. */
  tryTake(bytes: number): (() => void) | null
}

/** `totalBytes` → a budget of which all is free. */
export function createByteBudget(totalBytes: number): ByteBudget {
  let free = totalBytes
  const queue: { bytes: number; start: () => void }[] = []

  const grant = (bytes: number) => {
    free -= bytes
    let given = true
    return () => {
      if (!given) return
      given = false
      free += bytes
      while (queue.length > 0 && queue[0]!.bytes <= free) queue.shift()!.start()
    }
  }

  const tryTake = (wanted: number) => {
    const bytes = Math.min(wanted, totalBytes)
    return queue.length === 0 && bytes <= free ? grant(bytes) : null
  }

  return {
    tryTake,
    take: (wanted) => {
      const now = tryTake(wanted)
      if (now !== null) return Promise.resolve(now)
      const bytes = Math.min(wanted, totalBytes)
      // grant runs before the promise is looked at, so that whoever is next in the queue sees what is left
      return new Promise((resolve) => queue.push({ bytes, start: () => resolve(grant(bytes)) }))
    },
  }
}
