import type { Place } from '../store.ts'

/** Position of an event in the feed: the transaction that wrote it (always 0 with SQLite, which has one writer), then its
 *  number. */
export interface Position {
  position: number
  number: number
}

/** Before every event. */
export const BEGIN: Position = { position: 0, number: 0 }
/** Behind every event. */
export const END: Position = { position: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }

const DIGITS = 16

export const placeOf = ({ position, number }: Position): Place =>
  [position, number].map((part) => String(part).padStart(DIGITS, '0')).join('.')

/** The reverse of placeOf; BEGIN for ''. */
export function positionOf(place: Place): Position {
  const [position, number] = place.split('.').map(Number)
  return { position: position ?? 0, number: number ?? 0 }
}

export function isBefore(one: Position, other: Position): boolean {
  return one.position < other.position || (one.position === other.position && one.number < other.number)
}
