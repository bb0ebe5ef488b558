import { useEffect, useRef, useState } from 'preact/hooks'
import { request } from './api.ts'
import { organization, session } from './state.ts'

/** Follows `/v1/events/stream` with `query`. Calls `onChange` when it is connected, because the stream has no events from
 *  before, and after events: at most once in TOGETHER_MS, however many there are. After a lost connection it waits 3 s and
 *  reconnects. It disconnects while the tab is hidden. Returns whether it is connected. */
export function useEvents(query: Record<string, string | undefined>, onChange: () => void): boolean {
  const [isConnected, setConnected] = useState(false)
  const latest = useRef(onChange)
  latest.current = onChange
  const about = JSON.stringify([query, organization.value?.id])
  useEffect(() => {
    let given: AbortController | null = null
    let timer = 0
    let change = 0
    const changed = () => {
      change ||= window.setTimeout(() => {
        change = 0
        latest.current()
      }, TOGETHER_MS)
    }
    const stop = () => {
      window.clearTimeout(timer)
      window.clearTimeout(change)
      change = 0
      given?.abort()
      given = null
      setConnected(false)
    }
    const follow = async (signal: AbortSignal) => {
      try {
        const { body } = await request('GET', '/v1/events/stream', { query, signal })
        setConnected(true)
        changed()
        await eachEvent(body, changed)
      } catch {
        // the connection is lost, or given up
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
const TOGETHER_MS = 250

/** Calls `onEvent` when events of a stream have arrived (HTML Living Standard §9.2), limited to the syntax that this server
 *  uses. */
async function eachEvent(body: ReadableStream<Uint8Array<ArrayBuffer>> | null, onEvent: () => void): Promise<void> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; ; ) {
    const { value, done } = await reader.read()
    if (done) return
    text += value
    const end = text.lastIndexOf('\n\n')
    if (/^data: /m.test(text.slice(0, Math.max(0, end)))) onEvent()
    text = text.slice(end < 0 ? 0 : end + 2)
  }
}
