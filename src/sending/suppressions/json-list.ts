/** One object of the list with its number, from 1; or what is wrong with it. */
export type JsonRecord = { number: number; value: Record<string, unknown> } | { number: number; fault: string }

export interface JsonListReader {
  push(text: string): JsonRecord[]
  end(): JsonRecord[]
}

/** Reads the objects of a list piece by piece, in bounded memory: of `[{…}]`, of `{"items": [{…}], …}`, which services
 *  return, and of several such responses in sequence. An object that is not JSON, longer than 64 KiB or nested more
 *  than eight levels deep does not stop the rest. Never throws. */
export function createJsonListReader(): JsonListReader {
  let number = 0
  let depth = 0
  /** Nesting depth of the list's objects; 0 while no list is open. */
  let listDepth = 0
  let isText = false
  let isEscaped = false
  /** The open object: its text, null if too long; and its nesting depth. */
  let kept: string | null = ''
  let levels = 0
  let isOpen = false

  const close = (): JsonRecord => {
    isOpen = false
    number++
    if (kept === null) return { number, fault: 'is longer than 64 KiB' }
    if (levels > MAX_LEVELS) return { number, fault: `is nested more than ${MAX_LEVELS} levels deep` }
    try {
      return { number, value: JSON.parse(kept) }
    } catch {
      return { number, fault: 'is not valid JSON' }
    }
  }

  return {
    push(text) {
      const records: JsonRecord[] = []
      let from = 0
      const keep = (to: number) => {
        if (kept !== null) kept = kept.length + to - from > MAX_CHARACTERS ? null : kept + text.slice(from, to)
      }
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (isText) {
          if (isEscaped) isEscaped = false
          else if (code === BACKSLASH) isEscaped = true
          else if (code === QUOTE) isText = false
        } else if (code === QUOTE) isText = true
        else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
          if (code === OPEN_OBJECT && listDepth > 0 && depth === listDepth && !isOpen) {
            isOpen = true
            kept = ''
            levels = 0
            from = at
          }
          depth++
          levels = Math.max(levels, depth - listDepth)
          if (code === OPEN_ARRAY && listDepth === 0) listDepth = depth
        } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
          depth = Math.max(0, depth - 1)
          if (isOpen && depth === listDepth) {
            keep(at + 1)
            records.push(close())
          }
          if (depth < listDepth) listDepth = 0
        }
      }
      if (isOpen) keep(text.length)
      return records
    },
    end() {
      const isWhole = depth === 0 && !isText
      return isWhole ? [] : [{ number: number + 1, fault: 'the list ends unexpectedly' }]
    },
  }
}

const MAX_CHARACTERS = 65_536
const MAX_LEVELS = 8
const QUOTE = 34
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
