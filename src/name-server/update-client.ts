import net from 'node:net'
import packet, { type Answer } from 'dns-packet'
import type { ZoneRecord } from '../domains/zone-records.ts'
import { framedMessages, frameMessage, isWhole } from '../net/dns/frame.ts'
import { CLASS_IN, HEADER_BYTES, TYPE_ANY, TYPES } from './constants.ts'
import { ReplyVerifier, rcodeOf, signMessage, type TsigKey } from './tsig.ts'
import { nameKey, recordBytes } from './zone.ts'

/** The operator's own name server, which the zone is written to. */
export interface UpdateServer {
  host: string
  port: number
  key: TsigKey
}

/** What must be true in the zone before an update: names that nobody uses, or a TXT record that is there. RFC 2136 §2.4 */
export interface Conditions {
  unused: readonly string[]
  present: readonly ZoneRecord[]
}

/** A connection for one signed request after the other. */
export interface UpdateConnection {
  /** All records of the zone that this program knows, by a transfer (RFC 5936). */
  transfer(zone: string): Promise<ZoneRecord[]>
  /** Removes everything at the names `clear` and adds records, at once or not at all. Resolves with false if a condition is not
   *  true. RFC 2136 */
  update(
    zone: string,
    change: { conditions: Conditions; clear: readonly string[]; add: readonly ZoneRecord[] },
  ): Promise<boolean>
  close(): void
}

/** Connects over TCP. Every method rejects with what is wrong, for people: no answer, a refusal, or a TsigFailure; the
 *  connection is then of no use any more. */
export async function connectToUpdate(server: UpdateServer, now: () => number): Promise<UpdateConnection> {
  const socket = net.connect(server.port, server.host)
  const takeMessages = framedMessages()
  const waiting: Buffer[] = []
  let wake = () => {}
  let problem: string | null = null
  const end = (reason: string) => {
    problem ??= reason
    socket.destroy()
    wake()
  }
  socket.setTimeout(TIMEOUT_MS, () => end('no answer in time'))
  socket.on('error', (error) => end(error.message))
  socket.on('close', () => end('the name server closed the connection'))
  socket.on('data', (bytes) => {
    waiting.push(...takeMessages(Buffer.from(bytes)))
    wake()
  })
  const next = async (): Promise<Buffer> => {
    while (waiting.length === 0) {
      if (problem !== null) throw new Error(problem)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    return waiting.shift() ?? Buffer.alloc(0)
  }
  let id = Math.floor(now()) & 0xffff
  const send = (message: Buffer) => {
    id = (id + 1) & 0xffff
    message.writeUInt16BE(id)
    const { signed, mac } = signMessage(message, server.key, now())
    socket.write(frameMessage(signed))
    return new ReplyVerifier(server.key, mac, now)
  }
  const receive = async (verifier: ReplyVerifier): Promise<Buffer[]> => {
    const reply = await next()
    if (reply.length < HEADER_BYTES || reply.readUInt16BE() !== id) throw new Error('the reply is to another request')
    return verifier.receive(reply)
  }

  return {
    transfer: async (zone) => {
      const verifier = send(head(0, [1, 0, 0], question(zone, TYPE_AXFR)))
      const records: ZoneRecord[] = []
      let ends = 0
      let sizeBytes = 0
      while (ends < 2) {
        for (const message of await receive(verifier)) {
          sizeBytes += message.length
          if (sizeBytes > MOST_BYTES) throw new Error('the zone is too large')
          const rcode = rcodeOf(message)
          if (rcode !== 'NOERROR') throw new Error(`the name server refuses the transfer of the zone: ${rcode}`)
          const answers = answersOf(message)
          if (answers.length === 0) throw new Error('the transfer of the zone ended early')
          ends += answers.filter(({ type }) => type === 'SOA').length
          records.push(...answers.flatMap(recordOf))
        }
      }
      return records
    },
    update: async (zone, change) => {
      const [reply] = await receive(send(updateMessage(zone, change)))
      if (reply === undefined) throw new Error('the reply is not signed')
      const rcode = rcodeOf(reply)
      if (CONDITION_FAILED.has(rcode)) return false
      if (rcode !== 'NOERROR') throw new Error(`the name server refuses the update: ${rcode}`)
      return true
    },
    close: () => end('closed'),
  }
}

const CONDITION_FAILED = new Set(['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NXDOMAIN'])
const TIMEOUT_MS = 10_000
const MOST_BYTES = 500_000_000
const TYPE_AXFR = 252
const CLASS_NONE = 254
const CLASS_ANY = 255
const OPCODE_UPDATE = 5 << 3

function updateMessage(zone: string, { conditions, clear, add }: Parameters<UpdateConnection['update']>[1]): Buffer {
  const before = [
    ...conditions.unused.map((name) => emptyRecord(name, CLASS_NONE)),
    ...conditions.present.map((record) => fullRecord(record, 0)),
  ]
  const changes = [
    ...clear.map((name) => emptyRecord(name, CLASS_ANY)),
    ...add.map((record) => fullRecord(record, record.ttlSeconds)),
  ]
  const counts = [1, before.length, changes.length] as const
  return head(OPCODE_UPDATE, counts, Buffer.concat([question(zone, TYPES.SOA), ...before, ...changes]))
}

function head(flags: number, counts: readonly [number, number, number], body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header[2] = flags
  for (const [n, count] of counts.entries()) header.writeUInt16BE(count, 4 + 2 * n)
  return Buffer.concat([header, body])
}

function question(name: string, type: number): Buffer {
  const fixed = Buffer.alloc(4)
  fixed.writeUInt16BE(type)
  fixed.writeUInt16BE(CLASS_IN, 2)
  return Buffer.concat([nameBytes(name), fixed])
}

/** Any type, TTL 0 and no data. */
function emptyRecord(name: string, recordClass: number): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(TYPE_ANY)
  fixed.writeUInt16BE(recordClass, 2)
  return Buffer.concat([nameBytes(name), fixed])
}

const fullRecord = (record: ZoneRecord, ttlSeconds: number) =>
  Buffer.concat([nameBytes(record.name), recordBytes(record, ttlSeconds)])
const nameBytes = (name: string) => Buffer.from(nameKey(name), 'latin1')

/** Only of messages whose signature is right. */
function answersOf(message: Buffer): Answer[] {
  if (!isWhole(message)) throw new Error('the reply is malformed')
  return packet.decode(message).answers ?? []
}

function recordOf(answer: Answer): ZoneRecord[] {
  const name = answer.name.toLowerCase()
  const as = (type: ZoneRecord['type'], value: string, priority: number | null = null): ZoneRecord[] => [
    { name, type, ttlSeconds: 'ttl' in answer ? (answer.ttl ?? 0) : 0, value, priority },
  ]
  switch (answer.type) {
    case 'A':
    case 'AAAA':
      return as(answer.type, answer.data)
    case 'CNAME':
      return as('CNAME', answer.data.toLowerCase())
    case 'MX':
      return as('MX', answer.data.exchange.toLowerCase(), answer.data.preference ?? 0)
    case 'TXT':
      return as('TXT', Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString())
    default:
      return []
  }
}
