/** How a language writes the values of JSON. */
export interface Notation {
  /** Brackets of an object and of an array. */
  object: readonly [open: string, close: string]
  array: readonly [open: string, close: string]
  /** The empty object, where the brackets would mean an empty array. */
  emptyObject?: string
  /** Name of a field, with what follows it: `"name": `. */
  key: (name: string) => string
  text: (value: string) => string
  /** Names of true, false and null. */
  words: readonly [yes: string, no: string, none: string]
  /** Indentation of one level. */
  step: string
}

/** JSON value → its literal in a language; lines after the first begin with `indent`. Objects take a line per field.
 *  Arrays take a line if they are short and contain only texts and numbers. */
export function literal(value: unknown, notation: Notation, indent = ''): string {
  const { object, array, key, text, words, step } = notation
  const inner = indent + step
  const lines = (brackets: readonly [string, string], entries: string[]) =>
    `${brackets[0]}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${brackets[1]}`
  if (typeof value === 'string') return text(value)
  if (typeof value === 'boolean') return value ? words[0] : words[1]
  if (value === null || value === undefined) return words[2]
  if (Array.isArray(value)) {
    const entries = value.map((entry) => literal(entry, notation, inner))
    const line = `${array[0]}${entries.join(', ')}${array[1]}`
    return line.length < 60 && value.every((entry) => typeof entry !== 'object') ? line : lines(array, entries)
  }
  if (typeof value !== 'object') return String(value)
  const fields = Object.entries(value).map(([name, entry]) => key(name) + literal(entry, notation, inner))
  if (fields.length === 0) return notation.emptyObject ?? object[0] + object[1]
  return lines(object, fields)
}

/** JSON as its readers expect it: two spaces, and lines after the first begin with `indent`. */
export function jsonText(value: unknown, indent = ''): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}

/** A text in double quotes with the escapes of JSON, which most languages share. */
export const doubleQuoted = (value: string) => JSON.stringify(value.toWellFormed())

/** A text in single quotes with the escapes of JavaScript. */
export function singleQuoted(value: string): string {
  const inner = doubleQuoted(value)
    .slice(1, -1)
    .replaceAll(/\\.|'/g, (each) => (each === '\\"' ? '"' : each === "'" ? "\\'" : each))
  return `'${inner}'`
}
