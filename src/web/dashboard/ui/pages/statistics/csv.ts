import type { Json } from '../../kit/api.ts'
import { nameOf, rowsOf } from './groups.tsx'
import type { Compared } from './load.ts'

const FIELDS = [
  'accepted',
  'delivered',
  'deferred',
  'hard_bounced',
  'soft_bounced',
  'complained',
  'unique_opened',
  'unique_clicked',
  'unsubscribed',
  'suppressed',
  'replied',
] as const

/** Groups → CSV (RFC 4180) with the counts of the range, and those of the period before where there is one. */
export function csvOf({ by, now, before }: Compared): string {
  const earlier = new Map<string | undefined, Json>(before ? rowsOf(before).map((row) => [row.key, row]) : [])
  const head = [by, ...FIELDS, ...(before ? FIELDS.map((field) => `${field}_before`) : [])]
  const rows = rowsOf(now).map((row) => {
    const counts = FIELDS.map((field) => row[field])
    const countsBefore = before ? FIELDS.map((field) => earlier.get(row.key)?.[field] ?? 0) : []
    return [nameOf(by, row), ...counts, ...countsBefore]
  })
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Names come from tags: programs must not read them as formulas. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
