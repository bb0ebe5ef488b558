import { iso } from '../../model/event.ts'
import { SUPPRESSION_REASONS, type Suppression } from '../../model/suppression.ts'
import { isOneOf } from '../../os/records.ts'
import { csvLine } from './csv.ts'
import type { Row, Said } from './providers.ts'
import { parseTime } from './times.ts'

/** Our own suppression list as CSV, for export and import.
 *
 *  A spreadsheet treats a field that starts with `=`, `+`, `-`, `@` or a tab as a formula, and an address may start
 *  that way. Such a field gets a leading `'`, which spreadsheets hide; so does one that starts with `'`. Reading
 *  removes one. */
const OWN_COLUMNS = ['email', 'reason', 'domain_id', 'message_id', 'created_at', 'evidence', 'stream']

export function ownHeader(): string {
  return csvLine(OWN_COLUMNS)
}

export function ownLine({ email, reason, domainId, messageId, createdAt, evidence, stream }: Suppression): string {
  const fields = [email, reason, domainId ?? '', messageId ?? '', iso(createdAt), evidence ?? '', stream ?? '']
  return csvLine(fields.map(guarded))
}

function guarded(field: string): string {
  return /^[=+\-@\t\r']/.test(field) ? `'${field}` : field
}

/** A CSV field → its original value. */
export function unguarded(field: string): string {
  return field.trim().replace(/^'/, '')
}

/** A record with our columns, of which only `email` is required; `domain_id` is separate. Evidence is kept unchanged,
 *  or null. */
export function readOwn(row: Row): Said {
  const plain = (name: string) => (row[name] ?? '').trim()
  const reason = plain('reason') || 'manual'
  if (!isOneOf(SUPPRESSION_REASONS, reason)) {
    return { fault: `reason must be one of ${SUPPRESSION_REASONS.join(', ')}` }
  }
  const evidence = plain('evidence')
  return {
    email: plain('email') || plain('emailaddress'),
    reason,
    at: parseTime(row.createdat),
    evidence,
    stream: plain('stream') || null,
  }
}

export function isOwn(columns: ReadonlySet<string>): boolean {
  return columns.has('email') || columns.has('emailaddress')
}
