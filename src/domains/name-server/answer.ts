import {
  CLASS_IN,
  FIRST_META_TYPE,
  HEADER_BYTES,
  LAST_META_TYPE,
  MOST_UDP_BYTES,
  PLAIN_UDP_BYTES,
  RCODES,
  type Rcode,
  TYPE_ANY,
  TYPE_OPT,
  TYPES,
} from './constants.ts'
import { type Query, readQuery } from './query.ts'
import { isUnder, type Node, type RecordSet, type Zone } from './zone.ts'

export interface Answer {
  /** Length of the response in the output buffer. */
  sizeBytes: number
  /** Type asked for; 0 if the query has no readable question. */
  type: number
  rcode: Rcode
  isTruncated: boolean
}

export interface AnswerOptions {
  transport: 'udp' | 'tcp'
  /** True: only a truncated response, which sends the client to TCP. */
  isLimited?: boolean
}

/** Packet → the response, written to `out` (65,535 bytes); null if there must be none: no header, or itself a response.
 *  Never throws. Answers for the zone only and refuses everything else: other names and classes, zone transfers, recursion.
 *  Null as zone: it is not loaded yet, SERVFAIL. RFC 1034 §4.3.2, RFC 2308, RFC 6891 */
export function answer(packet: Buffer, zone: Zone | null, out: Buffer, options: AnswerOptions): Answer | null {
  if (packet.length < HEADER_BYTES || ((packet[2] ?? 0) & QR) !== 0) return null
  const response = new Response(packet, out)
  if (((packet[2] ?? 0) & OPCODE) !== 0) return response.end('NOTIMP')
  const query = readQuery(packet)
  if (query === null) return response.end('FORMERR')
  response.repeat(query, options.transport)
  if (query.edns !== null && query.edns.version !== 0) return response.end('BADVERS')
  if (options.isLimited === true) return response.truncate('NOERROR')
  if (query.class !== CLASS_IN || isProtocol(query.type)) return response.end('REFUSED')
  if (zone === null) return response.end('SERVFAIL')
  if (!isUnder(query.key, zone.apex)) return response.end('REFUSED')
  return lookUp(query, zone, response)
}

/** Types that ask for more than records: transfers, mailbox lists, TSIG. ANY is answered. */
const isProtocol = (type: number) =>
  type === TYPE_OPT || (type >= FIRST_META_TYPE && type <= LAST_META_TYPE && type !== TYPE_ANY)

/** Finds the records, and follows CNAME records inside the zone. */
function lookUp(query: Query, zone: Zone, response: Response): Answer {
  response.isAuthoritative = true
  let key = query.key
  let owner = HEADER_BYTES // the name of the question
  for (let step = 0; step < MOST_ALIASES; step++) {
    const node = zone.find(key)
    const set = node === undefined ? undefined : chosen(node, query.type)
    if (set === undefined) {
      const apexAt = HEADER_BYTES + query.key.length - zone.apex.length
      return response.negative(node === undefined ? 'NXDOMAIN' : 'NOERROR', zone.negative, apexAt)
    }
    const targetAt = response.add(set, owner)
    if (targetAt === null) return response.truncate('NOERROR')
    if (set.target === null || query.type === TYPES.CNAME || query.type === TYPE_ANY) break
    if (!isUnder(set.target, zone.apex)) break
    key = set.target
    owner = targetAt
  }
  return response.end('NOERROR')
}

/** A longer chain is not continued; the client asks for the rest. */
const MOST_ALIASES = 4

/** The set of the type, or the CNAME in its place. ANY gets one set, the smallest (RFC 8482 §4.1). */
function chosen(node: Node, type: number): RecordSet | undefined {
  if (type !== TYPE_ANY) return node.find((set) => set.type === type) ?? node.find((set) => set.type === TYPES.CNAME)
  let smallest = node[0]
  for (const set of node) if (smallest !== undefined && set.sizeBytes < smallest.sizeBytes) smallest = set
  return smallest
}

const QR = 0x80
const OPCODE = 0x78
const AA = 0x04
const TC = 0x02
const RD = 0x01
const CD = 0x10
const POINTER = 0xc000
const OPT_BYTES = 11

/** A response while it is written. */
class Response {
  isAuthoritative = false
  #type = 0
  #at = HEADER_BYTES
  #bodyAt = HEADER_BYTES
  #limit = PLAIN_UDP_BYTES
  #answers = 0
  #authorities = 0
  #questions = 0
  #edns: Query['edns'] = null

  constructor(
    private readonly packet: Buffer,
    private readonly out: Buffer,
  ) {}

  /** Repeats the question with the client's letter case, and sets the size limit. */
  repeat(query: Query, transport: AnswerOptions['transport']): void {
    this.#type = query.type
    this.#edns = query.edns
    this.packet.copy(this.out, HEADER_BYTES, HEADER_BYTES, query.questionEnd)
    this.#at = query.questionEnd
    this.#bodyAt = query.questionEnd
    this.#questions = 1
    const ofUdp = Math.min(MOST_UDP_BYTES, Math.max(PLAIN_UDP_BYTES, query.edns?.udpBytes ?? 0))
    this.#limit = (transport === 'tcp' ? 65_535 : ofUdp) - (query.edns === null ? 0 : OPT_BYTES)
  }

  /** Adds a set to the answers; the owner is a name at `owner` in the message. Returns where the data of its last record
   *  begins, the target of a CNAME; null if it does not fit. */
  add(set: RecordSet, owner: number): number | null {
    if (this.#at + set.sizeBytes > this.#limit) return null
    for (const record of set.records) this.#write(record, owner)
    this.#answers += set.records.length
    return this.#at - (set.records.at(-1)?.length ?? 0) + 10
  }

  /** No such name or no such type: the SOA record says for how long (RFC 2308). */
  negative(rcode: Rcode, soa: Buffer, apexAt: number): Answer {
    if (this.#at + 2 + soa.length > this.#limit) return this.truncate(rcode)
    this.#write(soa, apexAt)
    this.#authorities = 1
    return this.end(rcode)
  }

  truncate(rcode: Rcode): Answer {
    this.#at = this.#bodyAt
    this.#answers = 0
    this.#authorities = 0
    return this.end(rcode, true)
  }

  end(rcode: Rcode, isTruncated = false): Answer {
    const { out, packet } = this
    const code = RCODES[rcode]
    const asked = packet[2] ?? 0
    out[0] = packet[0] ?? 0
    out[1] = packet[1] ?? 0
    out[2] = QR | (asked & (OPCODE | RD)) | (this.isAuthoritative ? AA : 0) | (isTruncated ? TC : 0)
    out[3] = ((packet[3] ?? 0) & CD) | (code & 0xf)
    out.writeUInt16BE(this.#questions, 4)
    out.writeUInt16BE(this.#answers, 6)
    out.writeUInt16BE(this.#authorities, 8)
    out.writeUInt16BE(this.#edns === null ? 0 : 1, 10)
    if (this.#edns !== null) this.#writeEdns(code >> 4, this.#edns.isDnssecOk)
    return { sizeBytes: this.#at, type: this.#type, rcode, isTruncated }
  }

  #write(record: Buffer, owner: number): void {
    this.out.writeUInt16BE(POINTER | owner, this.#at)
    record.copy(this.out, this.#at + 2)
    this.#at += 2 + record.length
  }

  /** RFC 6891 §6.1.2; the DO flag is copied (RFC 3225 §3). */
  #writeEdns(extendedCode: number, isDnssecOk: boolean): void {
    const { out } = this
    out[this.#at] = 0
    out.writeUInt16BE(TYPE_OPT, this.#at + 1)
    out.writeUInt16BE(MOST_UDP_BYTES, this.#at + 3)
    out[this.#at + 5] = extendedCode
    out[this.#at + 6] = 0
    out.writeUInt16BE(isDnssecOk ? 0x8000 : 0, this.#at + 7)
    out.writeUInt16BE(0, this.#at + 9)
    this.#at += OPT_BYTES
  }
}
