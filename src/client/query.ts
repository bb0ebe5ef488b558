/** Query parameters → query string: `?status=bounced&metadata%5Border%5D=7` for `{ status: 'bounced', metadata: { order:
 *  '7' } }`. Arrays are joined with commas, dates become ISO 8601, and undefined and null are omitted. Without
 *  parameters, the empty string. */
export function queryOf(input: unknown): string {
  const pairs = Object.entries((input ?? {}) as Record<string, unknown>).flatMap(([name, value]) =>
    pairsOf(name, value),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

function pairsOf(name: string, value: unknown): [string, string][] {
  if (value === undefined || value === null) return []
  if (value instanceof Date) return [[name, value.toISOString()]]
  if (Array.isArray(value)) return [[name, value.join(',')]]
  if (typeof value !== 'object') return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, each]) => pairsOf(`${name}[${key}]`, each))
}
