import type { ZoneRecord } from '../domains/zone-records.ts'
import { nameBytes } from './request.ts'
import { recordBytes } from './zone.ts'

/** What the operator's name server has below the label of one domain. */
export interface PresentLabel {
  label: string
  /** The text of our mark, as it is there. */
  mark: string
  /** Names below the label that have records. */
  names: readonly string[]
  /** Of those records. */
  print: bigint
}

/** Records → a number that is the same for the same records in any order. */
export function printOf(records: readonly ZoneRecord[]): bigint {
  return records.reduce((sum, record) => sum + printOfRecord(nameBytes(record.name), wireOf(record)), 0n)
}

const wireOf = (record: ZoneRecord) => recordBytes(record, record.ttlSeconds)

/** The summand of one record: its owner and its bytes from the type on, with names in lower case and not compressed. */
export const printOfRecord = (owner: Buffer, record: Buffer) => BigInt(Bun.hash(Buffer.concat([owner, record])))

/** Begins the text of the mark of a label. */
export const MARK = 'postrider='

/** Text of the mark of a label: it says that its names are ours. The ID of the domain is in it, so that no other
 *  installation has the same. */
export const markText = (domainId: string, keyName: string) => `${MARK}${domainId} key=${keyName}`

/** Whether the mark was made with this key. */
export const isMarkOf = (mark: string, keyName: string) => mark.endsWith(` key=${keyName}`)

/** Name → the label of a domain that it is at or below; null for other names of the zone. */
export function labelOf(name: string, zone: string): string | null {
  if (!name.endsWith(`.${zone}`)) return null
  const above = name.slice(0, -zone.length - 1)
  const label = above.slice(above.lastIndexOf('.') + 1)
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(label) ? label : null
}
