import type { DnsRecord, RecordStatus } from '../model/domain.ts'
import { harmless, table } from './print.ts'

/** A DNS record as the API shows it. */
export type PublishedRecord = DnsRecord & { status: RecordStatus; found: string[] }

/** An address record of the machine itself. */
export interface DnsHost {
  type: 'A' | 'AAAA'
  name: string
  value: string
}

/** Records → a table to copy from, numbered, with what DNS last said of each; what is needed comes first. Values stand
 *  whole and last, as long as they are: a shortened key cannot be pasted. */
export function dnsTable(records: readonly PublishedRecord[], hosts: readonly DnsHost[] = []): string {
  const ofDomain = records.map((record) => [
    RECEIVING.has(record.purpose) ? 'no' : record.required ? 'yes' : 'advised',
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
    ({ name }) => `The MX of ${name} would bring all its mail here: only where no other server receives it.`,
  )
  const notes = wrong.map(({ name, found }) => `${name} says something else: ${harmless(found.join(' | '))}`)
  return [table(['#', 'needed', 'seen', 'type', 'name', 'value'], rows), ...warnings, ...notes].join('\n')
}

/** Only for domains that receive their mail here. */
const RECEIVING = new Set<DnsRecord['purpose']>(['ownership', 'mx', 'mta_sts', 'mta_sts_host'])
const STATUS: Record<RecordStatus, string> = { pending: '-', valid: 'yes', missing: 'no', mismatch: 'differs' }
