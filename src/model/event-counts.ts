import type { Event } from './event.ts'
import { EVENT_FACTS } from './event-types.ts'
import { TRANSACTIONAL } from './message.ts'
import type { Counted, CountingContext } from './stats.ts'

/** Event → the counters to increment, and the tags and stream of its message. Nothing for events without a recipient and for
 *  samples. Never throws. */
export function countedBy(
  event: Pick<Event, 'type' | 'body'>,
  context: CountingContext,
): { counted: readonly Counted[]; tags: string[]; stream: string } {
  const data = readData(event.body)
  const stream = typeof data.stream === 'string' ? data.stream : TRANSACTIONAL
  if (data.test === true) return { counted: [], tags: [], stream }
  const tags = Array.isArray(data.tags) ? (data.tags as string[]) : []
  const { counts = [] } = EVENT_FACTS[event.type]
  const counted = typeof counts === 'function' ? counts(data, context) : [counts].flat()
  return { counted, tags, stream }
}

function readData(body: string): Record<string, unknown> {
  const envelope = JSON.parse(body) as { data?: Record<string, unknown> }
  return envelope.data ?? {}
}
