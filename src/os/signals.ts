export interface SignalActions {
  /** Drains and stops; resolves when the process may end. */
  terminate: () => Promise<void>
  /** Reloads what can change without a restart. */
  reload: () => void
  exit: (code: number) => void
}

/** Handles signals. The first SIGTERM or SIGINT calls `terminate`, then exit(0); a second one exits immediately with
 *  128 + its number (130 SIGINT, 143 SIGTERM). SIGHUP calls `reload`. If `terminate` rejects, the exit code is 1.
 *  Returns a function that removes the handlers. Never throws. */
export function onSignals(actions: SignalActions): () => void {
  let isEnding = false
  const end = (code: number) => () => {
    if (isEnding) return actions.exit(code)
    isEnding = true
    actions.terminate().then(
      () => actions.exit(0),
      () => actions.exit(1),
    )
  }
  const handlers: [NodeJS.Signals, () => void][] = [
    ['SIGINT', end(130)],
    ['SIGTERM', end(143)],
    ['SIGHUP', () => actions.reload()],
  ]
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}
