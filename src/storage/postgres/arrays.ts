export type Item = string | number | boolean | Uint8Array | null

/** Values → PostgreSQL's text of an array (manual 8.15.2), for parameters of type text[], bigint[] and so on. Bytes are
 *  written in hexadecimal, so long ones do not belong here. */
export function valueArray(items: readonly Item[]): string {
  return `{${items.map(element).join()}}`
}

function element(item: Item): string {
  if (item === null) return 'null'
  if (typeof item === 'string') return `"${item.replaceAll(/["\\]/g, '\\$&')}"`
  if (typeof item === 'object') return `"\\\\x${Buffer.from(item).toString('hex')}"`
  return String(item)
}
