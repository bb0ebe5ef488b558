export interface SignalActions {
  /** Drains and stops; resolves when the process may end. */
  terminate: () => Promise<void>
  /** Reads what can be read again without a restart. */
  reload: () => void
  exit: (code: number) => void
}

/** First SIGTERM or SIGINT → terminate, then exit(0); a second one → exit at once with 128 + its number
 *  (130 SIGINT, 143 SIGTERM), for the operator who will not wait. SIGHUP → reload. A terminate that rejects
 *  exits 1. Returns what takes the handlers away again. Throws nothing. */
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
