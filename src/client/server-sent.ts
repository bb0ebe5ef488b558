/** One event of a stream, or, without data, the current position. */
export interface ServerSent {
  /** The last event ID received. */
  id: string
  data: string | null
}

/** Bytes of an event stream, in any chunks → its events in order; `onRetry` receives the server's reconnect delay in
 *  ms. An incomplete event at the end is dropped.
 *  https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export async function* serverSent(
  stream: AsyncIterable<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<ServerSent, void> {
  let id = ''
  let said = ''
  let data: string[] = []
  for await (const line of linesOf(stream)) {
    if (line === '') {
      if (data.length > 0 || id !== said) yield { id, data: data.length > 0 ? data.join('\n') : null }
      data = []
      said = id
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'data') data.push(value)
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) onRetry(Number(value))
  }
}

/** Lines end with CR LF, LF or CR, which may be split across two chunks. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    pending += decoder.decode(bytes, { stream: true })
    // A CR at the end may be half of a CR LF.
    const end = /\r$/.test(pending) ? pending.length - 1 : pending.length
    const lines = pending.slice(0, end).split(/\r\n|\n|\r/)
    pending = lines.pop()! + pending.slice(end)
    yield* lines
  }
}
