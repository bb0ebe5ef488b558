import { iso } from './event.ts'
import { EVENT_FACTS, type EventField, type EventType } from './event-types.ts'

/** Event type and time (ms UTC) → the `data` of a sample event: every field of a real one, and `test: true`. */
export function sampleData(type: EventType, at: number): Record<string, unknown> {
  const fields = Object.entries(EVENT_FACTS[type].fields).filter(([, { isOptional }]) => !isOptional)
  return { ...Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, at)])), test: true }
}

function sampleOf({ type, sample }: EventField, at: number): unknown {
  return type === 'time' && typeof sample === 'number' ? iso(at + sample) : sample
}
