import { createHmac, timingSafeEqual } from 'node:crypto'
import { endOfName } from '../net/dns/frame.ts'
import { HEADER_BYTES } from './constants.ts'
import { nameKey } from './zone.ts'

/** Signatures of DNS messages with a shared key. RFC 8945 */
export interface TsigKey {
  name: string
  algorithm: TsigAlgorithm
  secret: Buffer
}

export const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha512'] as const
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number]

/** A reply whose signature is missing or wrong, or that says so of ours. */
export class TsigFailure extends Error {}

/** Unsigned message and time (ms UTC) → the message with its TSIG record, and its MAC. */
export function signMessage(message: Buffer, key: TsigKey, now: number): { signed: Buffer; mac: Buffer } {
  const timers = timersOf(Math.floor(now / 1000), FUDGE_SECONDS)
  const mac = hmac(key, [message, variablesOf(key, timers, 0, NOTHING)])
  const data = Buffer.concat([
    nameBytes(key.algorithm),
    timers,
    uint16(mac.length),
    mac,
    message.subarray(0, 2),
    uint16(0),
    uint16(0),
  ])
  const record = Buffer.concat([
    nameBytes(key.name),
    uint16(TYPE_TSIG),
    uint16(CLASS_ANY),
    ZERO_TTL,
    uint16(data.length),
    data,
  ])
  const signed = Buffer.concat([message, record])
  signed.writeUInt16BE(signed.readUInt16BE(ADDITIONALS_AT) + 1, ADDITIONALS_AT)
  return { signed, mac }
}

/** Checks the replies to one signed request, in order. A transfer has several, of which up to 99 in a row are unsigned. */
export class ReplyVerifier {
  #previous: Buffer
  #isFirst = true
  #unsigned: Buffer[] = []

  constructor(
    private readonly key: TsigKey,
    requestMac: Buffer,
    private readonly now: () => number,
  ) {
    this.#previous = requestMac
  }

  /** Reply → the messages that are now proved to be whole and of the server: [] until a signed one follows. Throws a
   *  TsigFailure. */
  receive(message: Buffer): Buffer[] {
    const found = readTsig(message)
    if (found === null) {
      if (this.#isFirst || this.#unsigned.push(message) > MOST_UNSIGNED)
        throw new TsigFailure(`the reply is not signed (${rcodeOf(message)})`)
      return []
    }
    const { name, algorithm, timers, mac, originalId, error, other, startsAt } = found
    if (error === 16 || error === 17) throw new TsigFailure(ERRORS[error] ?? '')
    if (name !== nameKey(this.key.name) || algorithm !== nameKey(this.key.algorithm))
      throw new TsigFailure('the reply is signed with another key')
    const plain = Buffer.from(message.subarray(0, startsAt))
    originalId.copy(plain)
    plain.writeUInt16BE(plain.readUInt16BE(ADDITIONALS_AT) - 1, ADDITIONALS_AT)
    const expected = hmac(this.key, [
      uint16(this.#previous.length),
      this.#previous,
      ...this.#unsigned,
      plain,
      this.#isFirst ? variablesOf(this.key, timers, error, other) : timers,
    ])
    if (mac.length !== expected.length || !timingSafeEqual(mac, expected))
      throw new TsigFailure('the signature of the reply is wrong')
    if (error === 18) throw new TsigFailure(ERRORS[18] ?? '')
    if (error !== 0) throw new TsigFailure(`the server reports TSIG error ${error}`)
    if (Math.abs(this.now() / 1000 - timers.readUIntBE(0, 6)) > timers.readUInt16BE(6))
      throw new TsigFailure('the time of the reply is wrong: compare the clocks of this machine and the name server')
    this.#isFirst = false
    this.#previous = mac
    return [...this.#unsigned.splice(0), message]
  }
}

const ERRORS: Record<number, string> = {
  16: 'BADSIG: the name server has another secret for this key',
  17: 'BADKEY: the name server does not know this key or algorithm',
  18: 'BADTIME: the clocks of this machine and the name server differ',
}

interface Tsig {
  name: string
  algorithm: string
  /** Time signed and fudge. */
  timers: Buffer
  mac: Buffer
  originalId: Buffer
  error: number
  other: Buffer
  /** Where the record begins. */
  startsAt: number
}

/** The TSIG record, which is the last one; null without. Throws a TsigFailure if it is not readable. */
function readTsig(message: Buffer): Tsig | null {
  const startsAt = lastRecordAt(message)
  if (startsAt === null) return null
  try {
    const [name, typeAt] = plainName(message, startsAt)
    if (message.readUInt16BE(typeAt) !== TYPE_TSIG) return null
    const [algorithm, timersAt] = plainName(message, typeAt + 10)
    const macAt = timersAt + 10
    const idAt = macAt + message.readUInt16BE(timersAt + 8)
    const otherAt = idAt + 6
    if (otherAt + message.readUInt16BE(idAt + 4) !== message.length) throw new Error('length')
    return {
      name,
      algorithm,
      timers: message.subarray(timersAt, timersAt + 8),
      mac: message.subarray(macAt, idAt),
      originalId: message.subarray(idAt, idAt + 2),
      error: message.readUInt16BE(idAt + 2),
      other: message.subarray(otherAt),
      startsAt,
    }
  } catch {
    throw new TsigFailure('the reply is malformed')
  }
}

function lastRecordAt(message: Buffer): number | null {
  if (message.length < HEADER_BYTES) throw new TsigFailure('the reply is malformed')
  const [questions = 0, ...counts] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  const records = counts.reduce((sum, count) => sum + count, 0)
  if (counts[2] === 0) return null
  let at = HEADER_BYTES
  for (let n = 0; n < questions && at < message.length; n++) at = endOfName(message, at) + 4
  for (let n = 1; n < records && at < message.length; n++) {
    const lengthAt = endOfName(message, at) + 8
    if (lengthAt + 2 > message.length) throw new TsigFailure('the reply is malformed')
    at = lengthAt + 2 + message.readUInt16BE(lengthAt)
  }
  return at
}

/** Name without pointers at a place → its key in lower case, and where it ends. */
function plainName(message: Buffer, at: number): [string, number] {
  const end = endOfName(message, at)
  if (end > message.length) throw new Error('name')
  return [message.toString('latin1', at, end).toLowerCase(), end]
}

/** RFC 8945 §4.3.3 */
const variablesOf = (key: TsigKey, timers: Buffer, error: number, other: Buffer) =>
  Buffer.concat([
    nameBytes(key.name),
    uint16(CLASS_ANY),
    ZERO_TTL,
    nameBytes(key.algorithm),
    timers,
    uint16(error),
    uint16(other.length),
    other,
  ])

function hmac(key: TsigKey, parts: readonly Buffer[]): Buffer {
  const digest = createHmac(key.algorithm.replace('hmac-', ''), key.secret)
  for (const part of parts) digest.update(part)
  return digest.digest()
}

function timersOf(seconds: number, fudge: number): Buffer {
  const timers = Buffer.alloc(8)
  timers.writeUIntBE(seconds, 0, 6)
  timers.writeUInt16BE(fudge, 6)
  return timers
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** Response code of a message, as text. RFC 2136 §2.2 */
export function rcodeOf(message: Buffer): string {
  const code = (message[3] ?? 0) & 0xf
  return UPDATE_RCODES[code] ?? `RCODE${code}`
}

const UPDATE_RCODES = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
]
const nameBytes = (name: string) => Buffer.from(nameKey(name), 'latin1')
const NOTHING = Buffer.alloc(0)
const ZERO_TTL = Buffer.alloc(4)
const ADDITIONALS_AT = 10
const TYPE_TSIG = 250
const CLASS_ANY = 255
/** Allowed difference of the clocks, as RFC 8945 §10 recommends. */
const FUDGE_SECONDS = 300
const MOST_UNSIGNED = 99
