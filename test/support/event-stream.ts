import { serverSent } from '../../src/client/server-sent.ts'
import { until } from './patience.ts'

export interface StreamEvent {
  id: string
  type: string
  data: string
}

/** An open event stream, as a client reads it. */
export interface OpenStream {
  status: number
  headers: Headers
  /** Everything received so far. */
  events: StreamEvent[]
  text(): string
  ids(): string[]
  /** The last event ID for a reconnection; null before the first block. */
  lastId(): string | null
  /** Resolves after that many events. */
  received(count: number): Promise<StreamEvent[]>
  /** Resolves when the server ends it. */
  ended: Promise<void>
  leave(): void
}

/** Opens a stream and reads until either side ends it. A refusal has only its text. */
export async function openEventStream(
  url: string,
  key: string | null,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const control = new AbortController()
  const answer = await fetch(url, {
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    signal: control.signal,
  })
  const decoder = new TextDecoder()
  const events: StreamEvent[] = []
  let text = ''
  let lastId: string | null = null
  const heard = async function* () {
    for await (const bytes of answer.body!) {
      text += decoder.decode(bytes, { stream: true })
      yield bytes
    }
  }
  const read = async () => {
    for await (const { id, type, data } of serverSent(heard(), () => {})) {
      lastId = id
      if (data !== null) events.push({ id, type, data })
    }
  }
  return {
    status: answer.status,
    headers: answer.headers,
    events,
    text: () => text,
    ids: () => events.map(({ id }) => id),
    lastId: () => lastId,
    received: async (count) => {
      await until(`${count} events`, () => events.length >= count)
      return events
    },
    ended: read().catch(() => {}),
    leave: () => control.abort(),
  }
}

/** The whole response, or the beginning of one that does not end by itself. */
export async function textOf(answer: Response): Promise<string> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer.text()
  if (answer.body === null) return ''
  for await (const bytes of answer.body) return new TextDecoder().decode(bytes)
  return ''
}
