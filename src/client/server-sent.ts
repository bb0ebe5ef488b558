/** One event of a stream, or a new position without an event. */
export interface ServerSent {
  /** The last event ID received; '' if none. */
  id: string
  /** `message` if the event does not say. */
  type: string
  /** Data of the event; null for a position. */
  data: string | null
}

/** Characters of a line, and of the data of an event. An event has a few thousand. */
const MOST = 1_048_576

/** Bytes of an event stream, in chunks of any size → its events in order, and its position when that changes without one;
 *  the first is '' if there is no ID. Drops an incomplete event at the end. Calls `onRetry` with the server's reconnect
 *  delay in ms. Throws the error of `stream`, and an Error for a line or an event of more than MOST characters.
 *  https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export async function* serverSent(
  stream: AsyncIterable<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<ServerSent, void> {
  let id = ''
  let yieldedId: string | null = null
  let type = ''
  let data: string[] = []
  let size = 0
  for await (const line of linesOf(stream)) {
    if (line === '') {
      const event = data.length > 0 ? data.join('\n') : null
      if (event !== null || id !== yieldedId) yield { id, type: type || 'message', data: event }
      yieldedId = id
      type = ''
      data = []
      size = 0
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!
    if (name === 'data') {
      data.push(value)
      size += value.length + 1
      if (size > MOST) throw new Error(`stream event exceeds ${MOST} characters`)
    } else if (name === 'event') type = value
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
    if (pending.length > MOST) throw new Error(`stream line exceeds ${MOST} characters`)
  }
}
