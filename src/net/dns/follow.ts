import type { Answer } from 'dns-packet'
import type { Ask } from './client.ts'
import type { Lookup, RecordType } from './lookup.ts'

/** The final records of a name, and how long to cache them. */
export interface Resolved {
  lookup: Lookup<Answer>
  keepSeconds: number
}

/** Looks up `name` (lower case, canExist) and follows its CNAMEs, first inside each answer, then by further
 *  questions. At most eight aliases; more, or a loop, is `temporary`. Never rejects. RFC 1034 §3.6.2 */
export async function followAliases(ask: Ask, name: string, type: RecordType): Promise<Resolved> {
  const seen = new Set<string>()
  let owner = name
  let authentic = true
  let ttlSeconds = MAX_SECONDS
  while (true) {
    const reply = await ask(owner, type)
    if (reply.kind === 'temporary') return trouble(reply.reason)
    authentic &&= reply.authentic
    const asked = owner
    while (true) {
      const own = reply.answers.filter((answer) => isRecordOf(answer, owner))
      const records = own.filter((answer) => answer.type === type)
      if (records.length > 0) {
        ttlSeconds = Math.max(1, Math.min(ttlSeconds, ...records.map(ttlOf)))
        return {
          lookup: { kind: 'records', records: records.map(apart), ttlSeconds, authentic },
          keepSeconds: ttlSeconds,
        }
      }
      const alias = own.find((answer) => answer.type === 'CNAME')
      if (!alias) break
      seen.add(owner)
      owner = targetOf(alias)
      ttlSeconds = Math.min(ttlSeconds, ttlOf(alias))
      if (seen.has(owner)) return trouble('CNAME loop')
      if (seen.size > MAX_ALIASES) return trouble('CNAME chain too long')
    }
    // The rcode and the SOA concern the end of the chain (RFC 6604 §3); without them the server stopped halfway.
    const soa = reply.authorities.find((answer) => answer.type === 'SOA')
    const keepSeconds = soa ? Math.min(ttlSeconds, negativeSeconds(soa)) : BRIEF_SECONDS
    if (reply.isNxdomain || !canExist(owner)) return { lookup: { kind: 'nxdomain' }, keepSeconds }
    if (soa || owner === asked) return { lookup: { kind: 'no_data' }, keepSeconds }
  }
}

/** True if DNS can contain the name: labels of 1 to 63 bytes, 253 characters in all, ASCII only. Expects no trailing
 *  dot; false for the empty name. RFC 1035 §2.3.4 */
export function canExist(name: string): boolean {
  return name.length <= 253 && /^[\x00-\x7f]*$/.test(name) && name.split('.').every(isLabel)
}

/** A record whose data is a name (CNAME, NS, PTR) → that name in lower case. */
export function targetOf(answer: Answer): string {
  return 'data' in answer && typeof answer.data === 'string' ? answer.data.toLowerCase() : ''
}

const isLabel = (label: string) => label.length >= 1 && label.length <= 63

/** Longest caching of a negative answer. RFC 2308 §5 allows hours, but people wait for DNS changes. */
const MAX_NEGATIVE_SECONDS = 300
const MAX_SECONDS = 86_400
/** Caching of failures, and of a negative answer without the SOA that states its time. */
const BRIEF_SECONDS = 1
const MAX_ALIASES = 8

function trouble(reason: string): Resolved {
  return { lookup: { kind: 'temporary', reason }, keepSeconds: BRIEF_SECONDS }
}

function isRecordOf(answer: Answer, owner: string): boolean {
  return 'class' in answer && answer.class === 'IN' && answer.name.toLowerCase() === owner
}

/** A TTL with the top bit set counts as 0. RFC 2181 §8 */
function ttlOf(answer: Answer): number {
  const ttl = ('ttl' in answer && answer.ttl) || 0
  return ttl > 0x7fffffff ? 0 : ttl
}

function negativeSeconds(soa: Answer): number {
  const minimum = soa.type === 'SOA' ? (soa.data.minimum ?? 0) : 0
  return Math.max(BRIEF_SECONDS, Math.min(minimum, ttlOf(soa), MAX_NEGATIVE_SECONDS))
}

/** The record without its message: its bytes are copied, since a cached record of ten bytes would otherwise keep 64
 *  KiB in memory. */
function apart(answer: Answer): Answer {
  return 'data' in answer ? Object.assign({}, answer, { data: copied(answer.data) }) : answer
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null) return value
  if (!(value instanceof Uint8Array))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copied(inner)]))
  const copy = Buffer.from(new ArrayBuffer(value.length))
  copy.set(value)
  return copy
}
