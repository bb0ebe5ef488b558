import { EXIT } from './failure.ts'

/** Resolves with 130 at the first SIGINT, with 0 at SIGTERM or SIGHUP. A second signal ends the process immediately. */
export function untilSignal(): Promise<number> {
  return new Promise((resolve) => {
    let isEnding = false
    const end = (code: number) => () => {
      if (isEnding) process.exit(code)
      isEnding = true
      resolve(code)
    }
    process.on('SIGINT', end(EXIT.interrupted))
    process.on('SIGTERM', end(EXIT.done))
    process.on('SIGHUP', end(EXIT.done)) // the terminal was closed
  })
}
