import { fieldOf } from './records.ts'

/** Runs jobs: a Worker thread or a child process. Messages are structured clones (thread) or what the adapter
 *  supports (process). */
export interface Runner {
  /** Buffers in `transfer` are moved, not copied, if the adapter supports it. */
  send(message: unknown, transfer?: ArrayBuffer[]): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once when the runner ended, for any reason. */
  onEnd(listener: (reason: string) => void): void
  /** Ends the runner immediately, even during a computation. Repeated calls are harmless. */
  end(): void
  /** True if it accepts a SharedArrayBuffer. The runner then reports its work there, which costs nanoseconds and
   *  also works when its thread no longer yields. Other runners report by messages. */
  readonly sharesMemory?: boolean
}

/** Starts Workers as Runners through `spawn`. `onEnd` gets the exit code, or the error that kept its code from loading. */
export function threadRunner(spawn: () => Worker): () => Runner {
  return () => {
    const worker = spawn()
    let ended = false
    let whenEnded = (_reason: string) => {}
    const endOnce = (reason: string) => {
      if (ended) return
      ended = true
      whenEnded(reason)
    }
    worker.addEventListener('error', (event: ErrorEvent) => {
      event.preventDefault()
      worker.terminate()
      endOnce(withoutSource(event.message))
    })
    worker.addEventListener('close', (event) => endOnce(`the thread exited with code ${fieldOf(event, 'code')}`))
    return {
      sharesMemory: true,
      send: (message, transfer = []) => worker.postMessage(message, transfer),
      onMessage: (listener) => worker.addEventListener('message', (event: MessageEvent) => listener(event.data)),
      onEnd: (listener) => {
        whenEnded = listener
      },
      end: () => {
        worker.terminate()
      },
    }
  }
}

/** The runtime shows the lines of source code around the error before its message and stack. */
const withoutSource = (message: string) => message.slice(message.search(/^(?! *\d+ \| | *\^)/m))
