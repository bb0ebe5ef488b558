/** Yields to the event loop: long work runs in pieces of some milliseconds. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
