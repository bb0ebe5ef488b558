import { type HeaderField, readHeaderFields } from './header-fields.ts'

/** Raw mail → the same without the header fields that are unwanted, folded lines and all; every other byte stays, and
 *  the order too. The mail itself when none is. Sees the fields that readHeaderFields sees. Never throws. */
export function withoutFields(raw: Uint8Array, isUnwanted: (field: HeaderField) => boolean): Uint8Array {
  const unwanted = readHeaderFields(raw).fields.filter(isUnwanted)
  if (unwanted.length === 0) return raw
  const kept: Uint8Array[] = []
  let start = 0
  for (const field of unwanted) {
    kept.push(raw.subarray(start, field.start))
    start = field.end
  }
  kept.push(raw.subarray(start))
  return Buffer.concat(kept)
}
