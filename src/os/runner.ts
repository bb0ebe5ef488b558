import { fieldOf } from './records.ts'

/** Runs jobs: a Worker thread or a child process. Messages are structured clones (thread) or what the adapter
 *  supports (process). */
export interface Runner {
  /** Buffers in `transfer` are moved, not copied, if the adapter supports it. */
  send(message: unknown, transfer?: ArrayBuffer[]): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once when the runner ended, for any reason. */
  onEnd(listener: (reason: string) => void): void
  /** Ends the runner immediately, even during a computation (nativeThreadRunner: after it). Repeated calls are harmless. */
  end(): void
  /** True if it accepts a SharedArrayBuffer. The runner then reports its work there, which costs nanoseconds and
   *  also works when its thread no longer yields. Other runners report by messages. */
  readonly sharesMemory?: boolean
}

/** Starts Workers as Runners through `spawn`. `onEnd` gets the exit code, or the error that kept its code from loading. */
export function threadRunner(spawn: () => Worker): () => Runner {
  return () => runnerOf(spawn(), (worker) => worker.terminate())
}

/** The same for threads that use a native module. When a thread is terminated inside one, Bun may end the whole process
 *  ("NAPI FATAL ERROR", tested with 1.4.5). So `end` asks the thread to exit once it has finished what it computes. */
export function nativeThreadRunner(spawn: () => Worker): () => Runner {
  return () => runnerOf(spawn(), (worker) => worker.postMessage(EXIT))
}

/** Message to a thread (thread-entry.ts) that ends it. */
export const EXIT = 'exit'

function runnerOf(worker: Worker, end: (worker: Worker) => void): Runner {
  let ended = false
  let whenEnded = (_reason: string) => {}
  const endOnce = (reason: string) => {
    if (ended) return
    ended = true
    whenEnded(reason)
  }
  worker.addEventListener('error', (event: ErrorEvent) => {
    event.preventDefault()
    end(worker)
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
    end: () => end(worker),
  }
}

/** The runtime shows the lines of source code around the error before its message and stack. */
const withoutSource = (message: string) => message.slice(message.search(/^(?! *\d+ \| | *\^)/m))
