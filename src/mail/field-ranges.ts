import { type HeaderField, readHeaderFields } from './header-fields.ts'

/** Position of a field: byte offsets in the mail; `end` is behind its line end. */
export interface FieldRange {
  start: number
  end: number
}

/** Raw mail → byte ranges, in order, of fields with this name (lower case) whose raw value passes the test. Unlike
 *  readHeaderFields, it reads the whole header whatever its size, and takes names with any white space or folds before
 *  the colon, as other readers may. Linear, never throws. */
export function rangesOf(raw: Uint8Array, key: string, takes: (value: string) => boolean = () => true): FieldRange[] {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ranges: FieldRange[] = []
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] === LF || (bytes[start] === CR && bytes[start + 1] === LF)) break
    const end = endOfField(bytes, start)
    const name = bytes.toString('latin1', start, Math.min(start + key.length, end)).toLowerCase()
    if (name === key) {
      const rest = /^\s*:([\s\S]*)$/.exec(bytes.toString('latin1', start + key.length, end))?.[1]
      if (rest !== undefined && takes(rest)) ranges.push({ start, end })
    }
    start = end
  }
  return ranges
}

/** The bytes without these ranges (ordered, not overlapping); the same object if there are none. */
export function without(raw: Uint8Array, ranges: readonly FieldRange[]): Uint8Array {
  if (ranges.length === 0) return raw
  const kept: Uint8Array[] = []
  let at = 0
  for (const { start, end } of ranges) {
    kept.push(raw.subarray(at, start))
    at = end
  }
  kept.push(raw.subarray(at))
  return Buffer.concat(kept)
}

/** Raw mail → the same without unwanted header fields and their continuation lines; all other bytes are unchanged and
 *  in order. Returns the same mail if none is unwanted. Sees the same fields as readHeaderFields. Never throws. */
export function withoutFields(raw: Uint8Array, isUnwanted: (field: HeaderField) => boolean): Uint8Array {
  return without(raw, readHeaderFields(raw).fields.filter(isUnwanted))
}

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]

function endOfField(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const newline = bytes.indexOf(LF, at)
    if (newline < 0) return bytes.length
    at = newline + 1
    if (bytes[at] !== SPACE && bytes[at] !== TAB) return at
  }
}
