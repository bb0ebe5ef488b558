/** One event of a stream (HTML Living Standard §9.2). */
export interface StreamEvent {
  /** The last id that was given, with this event or before it; '' when there was none. */
  id: string
  type: string
  data: string
}

/** Puts together what comes in pieces. */
export interface EventParser {
  /** Bytes, cut wherever the network cut them → the events that are whole now. Throws on a line and on an event without end. */
  push(bytes: Uint8Array): StreamEvent[]
  /** How far the stream has come, which may be further than its last event; null before it has said anything, '' when it
   *  has no id to tell. */
  lastId(): string | null
}

/** A parser for one connection, as the standard has it (§9.2.6): lines end with CR, LF or both; a blank line ends an
 *  event, one without data is none; comments and unknown fields are passed over; what is unfinished at the end of the
 *  stream was never sent. */
export function createEventParser(): EventParser {
  const decoder = new TextDecoder() // takes off a byte order mark, and keeps half a character for later
  let rest = ''
  let id = ''
  let lastId: string | null = null
  let type = ''
  let data: string[] = []
  let size = 0

  const takeLine = (line: string): StreamEvent | null => {
    if (line === '') return dispatch()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data.push(value)
      size += value.length + 1
      if (size > MAX_LINE) throw new Error(`an event of the stream is longer than ${MAX_LINE} characters`)
    }
    if (field === 'event') type = value
    if (field === 'id' && !value.includes('\0')) id = value
    return null
  }

  const dispatch = (): StreamEvent | null => {
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
        // A CR at the very end may be half of a CRLF: the next piece tells.
        if (ending === '\r' && index === text.length - 1) break
        const event = takeLine(text.slice(from, index))
        if (event !== null) events.push(event)
        from = index + ending.length
      }
      rest = text.slice(from)
      if (rest.length > MAX_LINE) throw new Error(`a line of the stream is longer than ${MAX_LINE} characters`)
      return events
    },
    lastId: () => lastId,
  }
}

const LINE_ENDING = /\r\n|\n|\r/g
/** An envelope has some kilobytes. */
const MAX_LINE = 1_048_576
