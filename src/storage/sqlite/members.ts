/** Numbers per range of the search index. A batch of new messages changes nearly all pages of the newest range, which are
 *  thirty, and a search skips a range without its words in two microseconds. */
export const RANGE = 1_024
const BITMAP_BYTES = RANGE / 8

/** Members of a range, by their places from 0: a bitmap. Stored as a list of places, two bytes each, lowest byte first, in
 *  order, while that is shorter. */
export type Members = Uint8Array

export const noMembers = (): Members => new Uint8Array(BITMAP_BYTES)
export const allMembers = (): Members => new Uint8Array(BITMAP_BYTES).fill(0xff)

export const placeOf = (number: number): number => number % RANGE
export const rangeOf = (number: number): number => Math.floor(number / RANGE)

/** As stored → added to `members`. */
export function addStored(members: Members, stored: Uint8Array): void {
  if (stored.length === BITMAP_BYTES) {
    for (let at = 0; at < BITMAP_BYTES; at++) members[at]! |= stored[at]!
    return
  }
  for (let at = 0; at + 1 < stored.length; at += 2) addMember(members, (stored[at]! | (stored[at + 1]! << 8)) % RANGE)
}

export function addMember(members: Members, place: number): void {
  members[place >> 3]! |= 1 << (place & 7)
}

/** Keeps those in `members` that `others` has too. */
export function keepOnly(members: Members, others: Members): void {
  for (let at = 0; at < BITMAP_BYTES; at++) members[at]! &= others[at]!
}

/** → true if `members` had some of the others, which it has no more. */
export function removeMembers(members: Members, others: Members): boolean {
  let isChanged = false
  for (let at = 0; at < BITMAP_BYTES; at++) {
    if ((members[at]! & others[at]!) === 0) continue
    members[at]! &= ~others[at]!
    isChanged = true
  }
  return isChanged
}

/** → places from `high` down to `low`, both included. */
export function* placesDown(members: Members, high: number, low: number): Generator<number> {
  for (let place = high; place >= low; place--) {
    const byte = members[place >> 3]!
    if (byte === 0) place -= place & 7
    else if ((byte & (1 << (place & 7))) !== 0) yield place
  }
}

/** → as stored; null for none. */
export function toStored(members: Members): Uint8Array | null {
  const places: number[] = []
  for (let at = 0; at < BITMAP_BYTES; at++) {
    if (members[at] === 0) continue
    for (let bit = 0; bit < 8; bit++) if ((members[at]! & (1 << bit)) !== 0) places.push(8 * at + bit)
    if (2 * places.length >= BITMAP_BYTES) return members
  }
  if (places.length === 0) return null
  const stored = new Uint8Array(2 * places.length)
  places.forEach((place, at) => {
    stored[2 * at] = place & 0xff
    stored[2 * at + 1] = place >> 8
  })
  return stored
}
