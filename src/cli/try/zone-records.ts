import type { Answer } from 'dns-packet'
import type { RecordType } from '../../net/dns/resolver.ts'

/** Data of one DNS record. A string is an address, a host name or one TXT record (UTF-8, cut into strings of 255
 *  bytes); string[] is one TXT record with these strings. */
export type ZoneData =
  | string
  | string[]
  | { preference: number; exchange: string }
  | { usage: number; selector: number; matchingType: number; certificate: Uint8Array }
  | { mname: string; rname: string; minimum: number }

/** Records of one name and type. Without data, the name exists without such records. */
export interface RecordSet {
  data: ZoneData[]
  ttlSeconds: number
}

/** Contents of a zone server: names in lower case without trailing dot, then types. */
export type Names = Map<string, Map<RecordType, RecordSet>>

/** Name → key in Names: lower case, without a trailing dot. */
export const fold = (name: string) => name.replace(/\.$/, '').toLowerCase()

/** Question → rcode, answers and authorities. Follows CNAMEs from `name` (a key of Names) to records of the type, to
 *  the end of the chain, or to a name that it has already visited. NODATA and NXDOMAIN have a SOA record in the
 *  authorities. Never throws. */
export function answerFrom(names: Names, name: string, type: RecordType) {
  const answers: Answer[] = []
  const seen = new Set<string>()
  for (let owner = name; answers.length < MAX_CHAIN && !seen.has(owner); ) {
    seen.add(owner)
    const types = find(names, owner)
    if (!types) return { rcode: NXDOMAIN, answers, authorities: [soaFor(names, owner)] }
    const records = types.get(type)
    if (records?.data.length) {
      const found = records.data.map((data) => toAnswer(owner, type, data, records.ttlSeconds))
      return { rcode: 0, answers: [...answers, ...found], authorities: [] }
    }
    const alias = types.get('CNAME')
    const target = alias?.data[0]
    if (typeof target !== 'string') return { rcode: 0, answers, authorities: [soaFor(names, owner)] }
    answers.push(toAnswer(owner, 'CNAME', target, alias?.ttlSeconds ?? 0))
    owner = fold(target)
  }
  return { rcode: 0, answers, authorities: [] }
}

const NXDOMAIN = 3 // RFC 1035 §4.1.1
const MAX_CHAIN = 16
const SOA_TTL_SECONDS = 300

const parentOf = (name: string) => name.split('.').slice(1).join('.')

/** The records of a name, or of the wildcard of its closest encloser (RFC 4592 §3.3.1). An empty map for a name without
 *  records that has names below it; null if the name does not exist. */
function find(names: Names, name: string): Map<RecordType, RecordSet> | null {
  const own = names.get(name)
  if (own) return own
  if (hasNamesBelow(names, name)) return new Map()
  for (let parent = parentOf(name); parent !== ''; parent = parentOf(parent)) {
    const wildcard = names.get(`*.${parent}`)
    if (wildcard) return wildcard
    if (names.has(parent) || hasNamesBelow(names, parent)) return null
  }
  return names.get('*') ?? null
}

function hasNamesBelow(names: Names, name: string): boolean {
  return names.keys().some((other) => other.endsWith(`.${name}`))
}

function soaFor(names: Names, name: string): Answer {
  for (let apex = name; apex !== ''; apex = parentOf(apex)) {
    const soa = names.get(apex)?.get('SOA')
    if (soa?.data[0]) return toAnswer(apex, 'SOA', soa.data[0], soa.ttlSeconds)
  }
  return toAnswer('.', 'SOA', { mname: 'ns.invalid', rname: 'hostmaster.invalid', minimum: 1 }, SOA_TTL_SECONDS)
}

function toAnswer(name: string, type: RecordType, data: ZoneData, ttl: number): Answer {
  const isText = type === 'TXT' && (typeof data === 'string' || Array.isArray(data))
  const wire = isText ? txtStrings(data) : data
  const isTlsa = typeof wire === 'object' && 'certificate' in wire
  return { name, type, ttl, data: isTlsa ? { ...wire, certificate: Buffer.from(wire.certificate) } : wire } as Answer
}

/** TXT data → character strings, each cut after 255 bytes, the maximum length (RFC 1035 §3.3). */
function txtStrings(data: string | string[]): Buffer[] {
  return [data].flat().flatMap((text) => {
    const bytes = Buffer.from(text)
    const parts = Math.max(1, Math.ceil(bytes.length / 255))
    return Array.from({ length: parts }, (_, part) => bytes.subarray(part * 255, (part + 1) * 255))
  })
}
