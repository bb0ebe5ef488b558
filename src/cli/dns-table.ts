import type { DnsRecord, RecordStatus } from '../model/domain.ts'
import { sanitize, table } from './print.ts'

/** A DNS record to publish, in the form of an API response. `status` and `found` (values in DNS) are those
 *  of the last check. */
export type PublishedRecord = DnsRecord & { status: RecordStatus; found: string[] }

/** An address record of this machine. */
export interface DnsHost {
  type: 'A' | 'AAAA'
  name: string
  value: string
}

/** Formats DNS records as a numbered table with the result of the last check: first the required records, then the
 *  address records `hosts`, then the optional ones. The value is in the last column and is never shortened, so that
 *  users can copy it. Below the table come a warning for an MX record and the values in DNS of records that differ. */
export function dnsTable(records: readonly PublishedRecord[], hosts: readonly DnsHost[] = []): string {
  const ofDomain = records.map((record) => [
    RECEIVING.has(record.purpose) ? 'no' : record.required ? 'yes' : 'recommended',
    STATUS[record.status],
    record.type,
    record.name,
    record.priority === null ? record.value : `${record.priority} ${record.value}`,
  ])
  const ofHost = hosts.map(({ type, name, value }) => ['yes', '-', type, name, value])
  const isNeeded = ([needed]: string[]) => needed === 'yes'
  const all = [...ofDomain.filter(isNeeded), ...ofHost, ...ofDomain.filter((row) => !isNeeded(row))]
  const rows = all.map((row, at) => [String(at + 1), ...row])
  const wrong = records.filter(({ status, purpose }) => status === 'mismatch' && !RECEIVING.has(purpose))
  const apex = records.filter(({ purpose }) => purpose === 'mx')
  const warnings = apex.map(
    ({ name }) =>
      `The MX record of ${name} routes all its mail to this server. Publish it only if no other server receives mail for ${name}.`,
  )
  const notes = wrong.map(({ name, found }) => `${name} has a different value: ${sanitize(found.join(' | '))}`)
  return [table(['#', 'required', 'found', 'type', 'name', 'value'], rows), ...warnings, ...notes].join('\n')
}

/** A domain needs these records only to receive mail on this server. */
export const RECEIVING = new Set<DnsRecord['purpose']>(['ownership', 'mx', 'mta_sts', 'mta_sts_host', 'tls_rpt'])
const STATUS: Record<RecordStatus, string> = { pending: '-', valid: 'yes', missing: 'no', mismatch: 'differs' }
