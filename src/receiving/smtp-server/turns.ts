/** Limits the bytes processed per turn of the event loop over all connections. Without it, a hundred sockets with full
 *  buffers make one turn of half a second. */
export interface Turns {
  /** Calls `work` when the turn can take its bytes: now, or in a later turn after earlier callers. */
  take(bytes: number, work: () => void): void
}

/** `bytesATurn`: the last caller in a turn may exceed what is left. */
export function createTurns(bytesATurn: number): Turns {
  let left = bytesATurn
  let waiting: { bytes: number; work: () => void }[] = []
  let isArmed = false

  const next = () => {
    isArmed = false
    left = bytesATurn
    const due = waiting
    waiting = []
    for (const { bytes, work } of due) take(bytes, work)
  }

  const take = (bytes: number, work: () => void) => {
    if (!isArmed) {
      isArmed = true
      setImmediate(next)
    }
    if (left <= 0) return void waiting.push({ bytes, work })
    left -= bytes
    work()
  }
  return { take }
}
