export type Value = string | number | boolean | Uint8Array | null

/** Texts → PostgreSQL's text of an array (manual 8.15.2), for parameters of type text[]. */
export function textArray(items: readonly (string | null)[]): string {
  return valueArray(items)
}

/** The same for numbers, for parameters of type bigint[]. */
export function numberArray(items: readonly number[]): string {
  return `{${items.join()}}`
}

/** The same for values of any type. Bytes are written in hexadecimal, so long ones do not belong here. */
export function valueArray(items: readonly Value[]): string {
  return `{${items.map(element).join()}}`
}

function element(item: Value): string {
  if (item === null) return 'null'
  if (typeof item === 'string') return `"${item.replaceAll(/["\\]/g, '\\$&')}"`
  if (typeof item === 'object') return `"\\\\x${Buffer.from(item).toString('hex')}"`
  return String(item)
}
