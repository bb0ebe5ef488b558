import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Json } from './api.ts'
import { organization, session } from './state.ts'

/** Events as they happen, while somebody looks: `onEvent` gets each envelope, as webhooks do. After a break it goes on where
 *  it was; in a hidden tab it rests. Answers whether it is connected at present. `query` as for `/v1/events/stream`. */
export function useEvents(query: Record<string, string | undefined>, onEvent: (event: Json) => void): boolean {
  const [isConnected, setConnected] = useState(false)
  const told = useRef(onEvent)
  told.current = onEvent
  const about = JSON.stringify([query, organization.value?.id])
  useEffect(() => {
    let last: string | null = null
    let given: AbortController | null = null
    let timer = 0
    const stop = () => {
      window.clearTimeout(timer)
      given?.abort()
      given = null
      setConnected(false)
    }
    const follow = async (signal: AbortSignal) => {
      try {
        const headers: Record<string, string> = last === null ? {} : { 'last-event-id': last }
        const { body } = await ask('GET', '/v1/events/stream', { query, headers, signal })
        setConnected(true)
        for await (const { id, data } of messagesOf(body!)) {
          last = id ?? last
          told.current(JSON.parse(data))
        }
      } catch {
        // the server went away, or no longer knows where we were: from now on, then
        last = null
      }
      if (signal.aborted || session.peek() === null) return
      setConnected(false)
      timer = window.setTimeout(start, AGAIN_MS)
    }
    const start = () => {
      given = new AbortController()
      void follow(given.signal)
    }
    const turn = () => {
      stop()
      if (!document.hidden) start()
    }
    turn()
    document.addEventListener('visibilitychange', turn)
    return () => {
      document.removeEventListener('visibilitychange', turn)
      stop()
    }
  }, [about])
  return isConnected
}

const AGAIN_MS = 3_000

/** Server-sent events of a stream (HTML Living Standard §9.2), as far as our server writes them. */
async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ id: string | null; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>
  for (let text = ''; ; ) {
    const { value, done } = await reader.read()
    if (done) return
    text += value
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
      const data = field('data')
      if (data !== null) yield { id: field('id'), data }
    }
  }
}
