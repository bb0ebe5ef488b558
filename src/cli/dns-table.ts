import type { DnsRecord, RecordStatus } from '../model/domain.ts'
import { harmless, table } from './print.ts'

/** A DNS record as the API shows it. */
export type PublishedRecord = DnsRecord & { status: RecordStatus; found: string[] }

/** Records → a table to copy from, with what DNS last said of each. Values stand whole and last, as long as they are:
 *  a shortened key cannot be pasted. The MX record of the domain itself is left out as long as nothing here receives
 *  mail: whoever copied it would receive none. */
export function dnsTable(all: readonly PublishedRecord[]): string {
  const records = all.filter(({ purpose }) => purpose !== 'mx')
  const rows = records.map((record) => [
    record.required ? 'yes' : 'advised',
    STATUS[record.status],
    record.type,
    record.name,
    record.priority === null ? record.value : `${record.priority} ${record.value}`,
  ])
  const wrong = records.filter(({ status }) => status === 'mismatch')
  const notes = wrong.map(({ name, found }) => `${name} says something else: ${harmless(found.join(' | '))}`)
  return [table(['needed', 'seen', 'type', 'name', 'value'], rows), ...notes].join('\n')
}

const STATUS: Record<RecordStatus, string> = { pending: '-', valid: 'yes', missing: 'no', mismatch: 'differs' }
