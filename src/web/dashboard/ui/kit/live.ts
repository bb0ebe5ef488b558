import { useEffect, useRef, useState } from 'preact/hooks'
import { type Json, request } from './api.ts'
import { organization, session } from './state.ts'

/** Streams events from `/v1/events/stream` with `query`. `onEvent` gets each envelope, as in a webhook request. After a
 *  lost connection it waits 3 s, reconnects and continues after the last event. It disconnects while the tab is hidden.
 *  Returns whether it is connected. */
export function useEvents(query: Record<string, string | undefined>, onEvent: (event: Json) => void): boolean {
  const [isConnected, setConnected] = useState(false)
  const latest = useRef(onEvent)
  latest.current = onEvent
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
        const { body } = await request('GET', '/v1/events/stream', { query, headers, signal })
        setConnected(true)
        for await (const { id, data } of messagesOf(body)) {
          last = id ?? last
          latest.current(JSON.parse(data))
        }
      } catch {
        // the connection is lost, or the server no longer has the last event: continue with new events
        last = null
      }
      if (signal.aborted || session.peek() === null) return
      setConnected(false)
      timer = window.setTimeout(start, RECONNECT_MS)
    }
    const start = () => {
      given = new AbortController()
      void follow(given.signal)
    }
    const restart = () => {
      stop()
      if (!document.hidden) start()
    }
    restart()
    document.addEventListener('visibilitychange', restart)
    return () => {
      document.removeEventListener('visibilitychange', restart)
      stop()
    }
  }, [about])
  return isConnected
}

const RECONNECT_MS = 3_000

/** Parses an event stream (HTML Living Standard §9.2), limited to the syntax that this server uses. */
async function* messagesOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): AsyncGenerator<{ id: string | null; data: string }> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
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
