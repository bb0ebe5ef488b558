/** One event of a stream (HTML Living Standard §9.2). */
export interface StreamEvent {
  /** The last id in the stream up to this event; '' if there was none. */
  id: string
  type: string
  data: string
}

/** Incremental parser of an event stream. */
export interface EventParser {
  /** Parses more bytes and returns the events that they complete. Throws Error if a line or an event
   *  exceeds the limit. */
  push(bytes: Uint8Array): StreamEvent[]
  /** The last id in the stream, to continue after a reconnect. It may be newer than the last event, since a block
   *  without data can set it. Null before the first block; '' if no block had an id. */
  lastId(): string | null
}

/** Creates a parser for one connection (HTML Living Standard §9.2.6). Lines end with CR, LF or both; a blank line
 *  ends an event. It ignores blocks without data, comments and unknown fields, and drops an unfinished event at the
 *  end of the stream. */
export function createEventParser(): EventParser {
  const decoder = new TextDecoder() // strips a byte order mark and buffers partial characters
  let rest = ''
  let id = ''
  let lastId: string | null = null
  let type = ''
  let data: string[] = []
  let size = 0

  const takeLine = (line: string): StreamEvent | null => {
    if (line === '') return completeEvent()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data.push(value)
      size += value.length + 1
      if (size > MAX_LINE) throw new Error(`stream event exceeds ${MAX_LINE} characters`)
    }
    if (field === 'event') type = value
    if (field === 'id' && !value.includes('\0')) id = value
    return null
  }

  const completeEvent = (): StreamEvent | null => {
    const event = data.length === 0 ? null : { id, type: type || 'message', data: data.join('\n') }
    lastId = id
    type = ''
    data = []
    size = 0
    return event
  }

  return {
    push: (bytes) => {
      const text = rest + decoder.decode(bytes, { stream: true })
      const events: StreamEvent[] = []
      let from = 0
      for (const { 0: ending, index } of text.matchAll(LINE_ENDING)) {
        // A trailing CR may be the first half of a CRLF: wait for the next piece.
        if (ending === '\r' && index === text.length - 1) break
        const event = takeLine(text.slice(from, index))
        if (event !== null) events.push(event)
        from = index + ending.length
      }
      rest = text.slice(from)
      if (rest.length > MAX_LINE) throw new Error(`stream line exceeds ${MAX_LINE} characters`)
      return events
    },
    lastId: () => lastId,
  }
}

const LINE_ENDING = /\r\n|\n|\r/g
/** Characters. An event envelope has a few thousand. */
const MAX_LINE = 1_048_576
