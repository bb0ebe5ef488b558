import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { ZoneRecord } from '../zone-records.ts'
import { CLASS_IN, TYPES } from './constants.ts'

/** Records of one name and type, ready to be copied into an answer. */
export interface RecordSet {
  type: number
  /** Each from its type field on: type, class, TTL, length, data (RFC 1035 §3.2.1). The owner is written before it. */
  records: Buffer[]
  /** Of all records with two bytes for each owner. */
  sizeBytes: number
  /** The key of the target of a CNAME; null for other types. */
  target: string | null
}

/** The record sets of a name. An empty list: the name has none, but names below it exist (RFC 8020). */
export type Node = readonly RecordSet[]

/** A zone in memory. A key is the name in lower case as in a packet, one character per byte: labels with their lengths and
 *  the final zero. */
export interface Zone {
  /** Key of the zone's own name. */
  readonly apex: string
  /** The SOA record for negative answers, with their TTL (RFC 2308 §3). */
  readonly negative: Buffer
  /** Undefined: the name does not exist. */
  find(key: string): Node | undefined
  /** Replaces the records of one owner at once, [] removes them. The owner of the zone's own records is ''. Names outside
   *  the zone, and values that no packet can hold, are left out. */
  put(owner: string, records: readonly ZoneRecord[]): void
}

/** The name of the zone and the records of its own → the zone. Throws if they have no SOA or the name is no DNS name. */
export function createZone(name: string, own: readonly ZoneRecord[]): Zone {
  const apex = nameKey(name)
  const nodes = new Map<string, Node>()
  /** How many names below it have records; so a name without records of its own exists. */
  const children = new Map<string, number>()
  const namesOf = new Map<string, string[]>()
  let negative = negativeOf(own)

  const count = (key: string, by: 1 | -1) => {
    for (let at = parentOf(key); at.length >= apex.length; at = parentOf(at)) {
      const now = (children.get(at) ?? 0) + by
      if (now === 0) children.delete(at)
      else children.set(at, now)
    }
  }
  const remove = (key: string) => {
    if (nodes.delete(key)) count(key, -1)
  }
  const add = (key: string, node: Node) => {
    if (!nodes.has(key)) count(key, 1)
    nodes.set(key, node)
  }
  const put: Zone['put'] = (owner, records) => {
    const next = nodesOf(records, apex)
    for (const key of namesOf.get(owner) ?? []) if (!next.has(key)) remove(key)
    for (const [key, node] of next) add(key, node)
    if (next.size === 0) namesOf.delete(owner)
    else namesOf.set(owner, [...next.keys()])
    if (owner === '') negative = negativeOf(records)
  }
  put('', own)
  return {
    apex,
    get negative() {
      return negative
    },
    find: (key) => nodes.get(key) ?? (children.has(key) ? EMPTY : undefined),
    put,
  }
}

const EMPTY: Node = []

function nodesOf(records: readonly ZoneRecord[], apex: string): Map<string, Node> {
  const nodes = new Map<string, RecordSet[]>()
  for (const record of records) {
    const encoded = tryEncode(record)
    if (encoded === null || !isUnder(encoded.key, apex)) continue
    const node = nodes.get(encoded.key) ?? []
    nodes.set(encoded.key, node)
    const set = node.find(({ type }) => type === encoded.type)
    const sizeBytes = 2 + encoded.bytes.length
    if (set === undefined) {
      node.push({ type: encoded.type, records: [encoded.bytes], sizeBytes, target: encoded.target })
    } else if (set.target === null && !set.records.some((each) => each.equals(encoded.bytes))) {
      set.records.push(encoded.bytes)
      set.sizeBytes += sizeBytes
    }
  }
  return nodes
}

function tryEncode(record: ZoneRecord) {
  try {
    const key = nameKey(record.name)
    const target = record.type === 'CNAME' ? nameKey(record.value) : null
    return { key, type: TYPES[record.type], bytes: recordBytes(record, record.ttlSeconds), target }
  } catch {
    return null // a value that no packet can hold
  }
}

function negativeOf(own: readonly ZoneRecord[]): Buffer {
  const soa = own.find(({ type }) => type === 'SOA')
  if (soa === undefined) throw new Error('a zone needs an SOA record')
  const minimum = Number(soa.value.split(' ').at(-1))
  return recordBytes(soa, Math.min(minimum, soa.ttlSeconds))
}

/** Whether a key is the apex or below it. A label that merely ends like the apex has another length byte, but its text may
 *  contain that byte, so labels are compared from their starts. */
export function isUnder(key: string, apex: string): boolean {
  const at = key.length - apex.length
  if (at < 0 || !key.endsWith(apex)) return false
  let start = 0
  while (start < at) start += 1 + key.charCodeAt(start)
  return start === at
}

function parentOf(key: string): string {
  const length = key.charCodeAt(0)
  return length > 0 ? key.slice(1 + length) : ''
}

/** Name as text (A-labels, with or without the final dot) → its key. Throws for anything that is no DNS name
 *  (RFC 1035 §2.3.4). */
export function nameKey(name: string): string {
  const labels = name.replace(/\.$/, '').toLowerCase().split('.')
  if (labels.some((label) => label.length === 0 || label.length > 63 || !/^[!-~]+$/.test(label)))
    throw new Error(`not a DNS name: ${name}`)
  const key = `${labels.map((label) => `${String.fromCharCode(label.length)}${label}`).join('')}\0`
  if (key.length > 255) throw new Error(`DNS name too long: ${name}`)
  return key
}

const nameBytes = (name: string) => Buffer.from(nameKey(name), 'latin1')

/** A record from its type field on: type, class, TTL, length, data (RFC 1035 §3.2.1). Throws for a value that no packet can
 *  hold. */
function recordBytes({ type, value, priority }: ZoneRecord, ttlSeconds: number): Buffer {
  const data = dataOf(type, value, priority)
  const head = Buffer.alloc(10)
  head.writeUInt16BE(TYPES[type], 0)
  head.writeUInt16BE(CLASS_IN, 2)
  head.writeUInt32BE(ttlSeconds, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([head, data])
}

function dataOf(type: ZoneRecord['type'], value: string, priority: number | null): Buffer {
  switch (type) {
    case 'A':
    case 'AAAA':
      if (isIPv4(value) !== (type === 'A')) throw new Error(`not an address for ${type}: ${value}`)
      return Buffer.from(ipaddr.parse(value).toByteArray())
    case 'CNAME':
    case 'NS':
      return nameBytes(value)
    case 'MX': {
      const preference = Buffer.alloc(2)
      preference.writeUInt16BE(priority ?? 0)
      return Buffer.concat([preference, nameBytes(value)])
    }
    case 'SOA': {
      const [primary = '', mailbox = '', ...numbers] = value.split(' ')
      const fixed = Buffer.alloc(20)
      for (let n = 0; n < 5; n++) fixed.writeUInt32BE(Number(numbers[n]), 4 * n)
      return Buffer.concat([nameBytes(primary), nameBytes(mailbox), fixed])
    }
    case 'TXT':
      return txtBytes(Buffer.from(value))
  }
}

/** A string has at most 255 bytes (RFC 1035 §3.3); readers join them. */
function txtBytes(text: Buffer): Buffer {
  const strings: Buffer[] = []
  for (let at = 0; at === 0 || at < text.length; at += 255) {
    const part = text.subarray(at, at + 255)
    strings.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(strings)
}
