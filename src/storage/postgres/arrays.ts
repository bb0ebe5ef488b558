/** Texts → PostgreSQL's text of an array (manual 8.15.2), for parameters of type text[]. */
export function textArray(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'null' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`)).join()}}`
}

/** The same for numbers, for parameters of type bigint[]. */
export function numberArray(items: readonly number[]): string {
  return `{${items.join()}}`
}
