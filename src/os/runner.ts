/** Where jobs run: a Worker thread or a child process. Messages are structured clones (thread) or whatever the adapter can
 *  carry (process). */
export interface Runner {
  /** Buffers in `transfer` are handed over, not copied, where the adapter can. */
  send(message: unknown, transfer?: ArrayBuffer[]): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, when it ended for whatever reason. */
  onEnd(listener: (reason: string) => void): void
  /** Ends it at once, also in the midst of a computation. Twice is harmless. */
  end(): void
  /** True when it can be sent a SharedArrayBuffer: it then marks its work there, which costs nanoseconds and leaves also
   *  from a thread that does not yield any more. Others mark it by messages. */
  readonly sharesMemory?: boolean
}

/** `spawn` of a Worker → a start of a Runner. An error that nobody caught ends the thread: `onEnd` gets its message. */
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
      endOnce(event.message)
    })
    worker.addEventListener('close', () => endOnce('it ended by itself'))
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
