/** Subject of a notification: a queue in which something may be due, a message whose state changed, an organization
 *  with new events, or domains of which some changed. */
export type Topic =
  | 'deliveries'
  | 'webhook deliveries'
  | 'inbound deliveries'
  | 'domains'
  | `message ${string}`
  | `events of ${string}`

export type Notify = (topic: Topic) => void

/** Wakes listeners of a topic, within this process only. A notification only means that a check is worthwhile, and
 *  one without a listener is dropped. A listener therefore reads the state after it has started to listen, and also
 *  checks periodically. */
export interface Notifier {
  /** Call it after the commit that the topic is about. */
  notify: Notify
  /** Calls `listener` at each notification of the topic, until the function that it returns is called. */
  on(topic: Topic, listener: () => void): () => void
  /** Resolves at the next notification of the topic, or after `timeoutMs`. Never rejects. */
  wait(topic: Topic, timeoutMs: number): Promise<void>
}

export function createNotifier(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Notifier {
  const listeners = new Map<Topic, Set<() => void>>()

  const on: Notifier['on'] = (topic, listener) => {
    const ofTopic = listeners.get(topic) ?? new Set()
    listeners.set(topic, ofTopic.add(listener))
    return () => {
      ofTopic.delete(listener)
      if (ofTopic.size === 0 && listeners.get(topic) === ofTopic) listeners.delete(topic)
    }
  }

  return {
    notify: (topic) => {
      for (const listener of listeners.get(topic) ?? []) listener()
    },
    on,
    wait: async (topic, timeoutMs) => {
      const notified = new AbortController()
      const stop = on(topic, () => notified.abort())
      await sleep(timeoutMs, notified.signal)
      stop()
    },
  }
}
