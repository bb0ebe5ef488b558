import { iso } from '../model/event.ts'
import { SUPPRESSION_REASONS, type Suppression, type SuppressionReason } from '../model/suppression.ts'
import { csvLine } from './csv.ts'
import type { Row, Said } from './providers.ts'
import { parseTime } from './times.ts'

/** Our own list as CSV: what is exported, and what can be given back. Both directions.
 *
 *  A spreadsheet takes a field that begins with `=`, `+`, `-`, `@` or a tab for a formula, and an address may begin so. Such a
 *  field gets a `'` before it, which a spreadsheet does not show; so does one that begins with `'`. Reading takes one away. */
export const OWN_COLUMNS = ['email', 'reason', 'domain_id', 'message_id', 'created_at', 'evidence']

export function ownHeader(): string {
  return csvLine(OWN_COLUMNS)
}

export function ownLine({ email, reason, domainId, messageId, createdAt, evidence }: Suppression): string {
  const fields = [email, reason, domainId ?? '', messageId ?? '', iso(createdAt), evidence ?? '']
  return csvLine(fields.map(guarded))
}

function guarded(field: string): string {
  return /^[=+\-@\t\r']/.test(field) ? `'${field}` : field
}

/** A field of such a CSV → what it was. */
export function unguarded(field: string): string {
  return field.trim().replace(/^'/, '')
}

/** A record with the columns of ours, of which only `email` must be there; `domain_id` besides. An evidence is kept as
 *  it is, or null. */
export function readOwn(row: Row): Said {
  const plain = (name: string) => (row[name] ?? '').trim()
  const reason = plain('reason') || 'manual'
  if (!SUPPRESSION_REASONS.includes(reason as SuppressionReason)) {
    return { fault: `reason must be one of ${SUPPRESSION_REASONS.join(', ')}` }
  }
  const evidence = plain('evidence')
  return {
    email: plain('email') || plain('emailaddress'),
    reason: reason as SuppressionReason,
    at: parseTime(row.createdat),
    evidence,
  }
}

export function isOwn(columns: ReadonlySet<string>): boolean {
  return columns.has('email') || columns.has('emailaddress')
}
