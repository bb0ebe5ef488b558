/** So many bytes in one turn of the event loop, of all who have bytes to look at: a hundred sockets with full buffers would
 *  else be one turn of half a second. */
export interface Turns {
  /** Calls `work` when the turn has room for its bytes: at once, or in a later turn, behind those who asked before. */
  take(bytes: number, work: () => void): void
}

/** `bytesATurn`: the last one who gets room may take more than is left. */
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
