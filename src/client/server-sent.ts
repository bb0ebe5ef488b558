/** One event of a stream, or a new position without an event. */
export interface ServerSent {
  /** The last event ID received; '' if none. */
  id: string
  /** Data of the event; null for a position. */
  data: string | null
}

/** Bytes of an event stream, in chunks of any size → its events in order. Drops an incomplete event at the end. Calls
 *  `onRetry` with the server's reconnect delay in ms. Throws the error of `stream`.
 *  https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export async function* serverSent(
  stream: AsyncIterable<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<ServerSent, void> {
  let id = ''
  let yieldedId = ''
  let data: string[] = []
  for await (const line of linesOf(stream)) {
    if (line === '') {
      if (data.length > 0 || id !== yieldedId) yield { id, data: data.length > 0 ? data.join('\n') : null }
      data = []
      yieldedId = id
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'data') data.push(value)
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) onRetry(Number(value))
  }
}

/** Bytes → lines without their ends. A line ends with CR LF, LF or CR; a CR LF may be split across two chunks. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    pending += decoder.decode(bytes, { stream: true })
    // Keep a CR at the end, because it may be the first half of a CR LF.
    const end = /\r$/.test(pending) ? pending.length - 1 : pending.length
    const lines = pending.slice(0, end).split(/\r\n|\n|\r/)
    pending = lines.pop()! + pending.slice(end)
    yield* lines
  }
}
