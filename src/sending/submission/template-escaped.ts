/** A text that `html` escaped already, at least in part: captured output, a result of `escape`, the body in a layout. Only
 *  templates create it, never a variable. */
export class Escaped {
  /** What `raw` prints, and what filters and conditions read. */
  readonly text: string
  /** What output prints: every value in it is escaped once. Null for a text that is not escaped yet, which is how `raw`
   *  marks what it lets through. */
  readonly html: string | null

  constructor(text: string, html: string | null) {
    this.text = text
    this.html = html
  }

  toString(): string {
    return this.text
  }

  /** A loop over a text has one turn, or none if the text is empty. */
  *[Symbol.iterator](): Generator<Escaped> {
    if (this.text !== '') yield this
  }
}

/** Whether output may print parts of the value as they are. Elements of an array count. */
export function isEscaped(value: unknown): boolean {
  return value instanceof Escaped ? value.html !== null : Array.isArray(value) && value.some(isEscaped)
}

/** Value → the same with plain texts, also inside arrays. */
export function plainOf(value: unknown): unknown {
  return mapTexts(value, (text) => (text instanceof Escaped ? text.text : text))
}

/** Replaces each text of a value, also inside arrays; everything else stays. */
export function mapTexts(value: unknown, change: (text: string | Escaped) => unknown): unknown {
  if (typeof value === 'string' || value instanceof Escaped) return change(value)
  return Array.isArray(value) ? value.map((element) => mapTexts(element, change)) : value
}
