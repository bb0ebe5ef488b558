/** PostgreSQL's texts cannot contain NUL (manual 8.3), but the subject of a received mail can. NUL and the character
 *  that replaces it are written as two characters each. */
const ESCAPE = '\u0001'
const NUL = `${ESCAPE}0`
const ESCAPED = `${ESCAPE}1`

/** Any text → one that PostgreSQL accepts. Works on the text of an array too. */
export function encodeText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, ESCAPED).replaceAll('\0', NUL)
}

/** The reverse of encodeText. */
function decodeText(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(NUL, '\0').replaceAll(ESCAPED, ESCAPE) : text
}

/** Values of parameters, with their texts encoded. */
export function encodeTexts(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' ? encodeText(value) : value))
}

/** Decodes the texts of rows, in place, and makes numbers of big integers. Ours are times and counts: one of 2^53 or
 *  more throws a RangeError. Arrays in rows stay as they are. */
export function decodeRows(rows: readonly object[]): void {
  for (const row of rows as Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column]
      if (typeof value === 'bigint') row[column] = toNumber(value)
      else if (typeof value === 'string' && value.includes(ESCAPE)) row[column] = decodeText(value)
    }
  }
}

function toNumber(integer: bigint): number {
  const number = Number(integer)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${integer} is more than a number can hold`)
  return number
}
