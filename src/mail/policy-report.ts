import { type AggregateReport, readAggregateReport } from './aggregate-report.ts'
import { contentOf, leavesOf, type MimePart, readMime } from './mime-parts.ts'
import { readTlsReport, type TlsReport } from './received-tls-report.ts'
import { DamagedReport, isPacked, unpackReport } from './unpack-report.ts'

/** What a mail to a report address contains. */
export type PolicyReport =
  | { kind: 'dmarc'; report: AggregateReport }
  | { kind: 'tls'; report: TlsReport }
  /** It has a report that cannot be read. `why`: one line of ASCII. */
  | { kind: 'damaged'; why: string }
  /** No part of the mail looks like a report. */
  | { kind: 'none' }

/** Raw mail → the report in it: the first part that can be read as one. Only the bytes of a part decide, not its type,
 *  its name or the mail's subject. Never throws. RFC 7489 §7.2.1.1, RFC 8460 §5.3 */
export function readPolicyReport(raw: Uint8Array): PolicyReport {
  const damages: string[] = []
  for (const part of candidatesIn(raw)) {
    try {
      const content = unpackReport(contentOf(part))
      const kind = kindOf(content)
      if (kind === 'dmarc') return { kind, report: readAggregateReport(content) }
      if (kind === 'tls') return { kind, report: readTlsReport(content) }
      if (isPacked(contentOf(part))) damages.push('the attachment is neither a DMARC report nor a TLS report')
    } catch (error) {
      if (!(error instanceof DamagedReport)) throw error
      damages.push(error.message)
    }
    if (damages.length === MAX_DAMAGED) break
  }
  const [why] = damages
  return why === undefined ? { kind: 'none' } : { kind: 'damaged', why }
}

/** Reports have one or two parts; more than this are not looked at. */
const MAX_PARTS = 20
/** Each may unpack to ten megabytes; further parts are not looked at after this many that cannot be read. */
const MAX_DAMAGED = 3
/** XML of the largest size in base64. */
const MAX_BYTES = 14_000_000

function candidatesIn(raw: Uint8Array): MimePart[] {
  const { mail } = readMime(raw, { bytes: MAX_BYTES, parts: MAX_PARTS, levels: 5 })
  return leavesOf(mail)
}

/** Bytes at the start that decide the kind; comments and an enclosing element may precede `feedback`. */
const START_BYTES = 2_000

function kindOf(content: Uint8Array): 'dmarc' | 'tls' | null {
  const bytes = content.subarray(0, START_BYTES)
  // Without the zero bytes of UTF-16.
  const start = Buffer.from(bytes)
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^[^<{]{0,20}/, '')
  if (start.startsWith('<')) return /^<\?xml|<(?:[\w-]{1,20}:)?feedback[\s>]/i.test(start) ? 'dmarc' : null
  return start.startsWith('{') && TLS_FIELD.test(start) ? 'tls' : null
}

const TLS_FIELD = /"(?:organization-name|date-range|policies|report-id)"/
