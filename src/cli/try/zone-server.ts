import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import packet, { type Answer, type DecodedPacket } from 'dns-packet'
import { framedMessages, frameMessage } from '../../net/dns/frame.ts'
import type { RecordType } from '../../net/dns/resolver.ts'
import { answerFrom, fold, type Names, type ZoneData } from './zone-records.ts'

export type { ZoneData } from './zone-records.ts'

/** A small authoritative DNS server for invented zones, which `postrider try` and the tests query instead of the
 *  Internet. It listens on 127.0.0.1 only, on UDP and TCP with the same port. It answers queries for any name; a name
 *  without records is NXDOMAIN. It can also simulate failures. */
export interface Zone {
  /** `127.0.0.1:port`. */
  address: string
  /** Replaces the records of this type at `name`. With an empty list the name exists without such records (NODATA). */
  set(name: string, type: RecordType, data: ZoneData[], ttlSeconds?: number): void
  /** Removes the records of one type, or without `type` all records of the name and its simulated failure. */
  remove(name: string, type?: RecordType): void
  /** Simulates a failure of queries for exactly this name; null ends it. */
  fail(name: string, how: ZoneFailure | null): void
  /** Names whose responses have the AD flag, as from a resolver that has validated them with DNSSEC.
   *  Callers may change it. */
  signed: Set<string>
  /** All questions so far, oldest first, names in lower case. Callers may empty it. */
  queries: { name: string; type: string }[]
  stop(): Promise<void>
}

/** One record of a zone. `name` in any case, with or without a trailing dot. */
export interface ZoneRecord {
  name: string
  type: RecordType
  data: ZoneData
  ttlSeconds?: number
}

/** `timeout` sends no response; `truncate` sets the TC flag over UDP only; `wrong_id` sends the correct response
 *  with a different ID. */
export type ZoneFailure = 'SERVFAIL' | 'REFUSED' | 'timeout' | 'truncate' | 'wrong_id'

/** Starts a server for the records on a free port of 127.0.0.1, or at `at`. `*.example` matches names below example
 *  that do not exist themselves (RFC 4592). It follows CNAMEs inside the zone. Negative responses have the closest SOA
 *  record of the zone, or else one with a negative TTL of one second. Rejects if no port is free. */
export async function startZone(records: ZoneRecord[] = [], at = { host: '127.0.0.1', port: 0 }): Promise<Zone> {
  const names: Names = new Map()
  const failures = new Map<string, ZoneFailure>()
  const queries: Zone['queries'] = []
  const signed: Zone['signed'] = new Set()

  const set = (name: string, type: RecordType, data: ZoneData[], ttlSeconds = DEFAULT_TTL_SECONDS) => {
    const types = names.get(fold(name)) ?? new Map()
    names.set(fold(name), types.set(type, { data, ttlSeconds }))
  }

  const respond = (message: Buffer, transport: 'udp' | 'tcp'): Buffer | null => {
    const query = decodeQuery(message)
    const question = query?.questions?.[0]
    if (!query || !question) return null
    const name = fold(question.name)
    queries.push({ name, type: question.type })
    const failure = failures.get(name)
    if (failure === 'timeout') return null
    if (failure === 'SERVFAIL') return encode(query, SERVFAIL, [], [])
    if (failure === 'REFUSED') return encode(query, REFUSED, [], [])
    if (failure === 'truncate' && transport === 'udp') return encode(query, TRUNCATED, [], [])
    const { rcode, answers, authorities } = answerFrom(names, name, question.type as RecordType)
    const flags = signed.has(name) ? rcode | packet.AUTHENTIC_DATA : rcode
    const response = encode(query, flags, answers, authorities)
    if (transport === 'udp' && response.length > udpLimit(query)) return encode(query, TRUNCATED, [], [])
    if (failure === 'wrong_id') response.writeUInt16BE(message.readUInt16BE() ^ 1)
    return response
  }

  for (const { name, type, data, ttlSeconds } of records) {
    set(name, type, [...(names.get(fold(name))?.get(type)?.data ?? []), data], ttlSeconds)
  }
  const listeners = await listen(respond, at)
  return {
    address: listeners.address,
    set,
    remove: (name, type) => {
      if (type) names.get(fold(name))?.delete(type)
      else names.delete(fold(name))
      if (!type) failures.delete(fold(name))
    },
    fail: (name, how) => {
      if (how) failures.set(fold(name), how)
      else failures.delete(fold(name))
    },
    signed,
    queries,
    stop: listeners.stop,
  }
}

const DEFAULT_TTL_SECONDS = 300
const SERVFAIL = 2 // response codes, RFC 1035 §4.1.1
const REFUSED = 5
const TRUNCATED = packet.TRUNCATED_RESPONSE
const UDP_LIMIT_BYTES = 512 // without EDNS, RFC 1035 §2.3.4

function decodeQuery(message: Buffer): DecodedPacket | null {
  try {
    const query = packet.decode(message)
    return query.flag_qr ? null : query
  } catch {
    return null // not a DNS message: no response
  }
}

function encode(query: DecodedPacket, flags: number, answers: Answer[], authorities: Answer[]): Buffer {
  return packet.encode({
    type: 'response',
    id: query.id,
    flags: flags | packet.AUTHORITATIVE_ANSWER | (query.flag_rd ? packet.RECURSION_DESIRED : 0),
    questions: query.questions,
    answers,
    authorities,
  })
}

function udpLimit(query: DecodedPacket): number {
  const opt = query.additionals?.find((record) => record.type === 'OPT')
  return opt?.type === 'OPT' ? Math.max(UDP_LIMIT_BYTES, opt.udpPayloadSize) : UDP_LIMIT_BYTES
}

type Respond = (message: Buffer, transport: 'udp' | 'tcp') => Buffer | null

/** Binds TCP to the port (0: any free one) and UDP to the same number. If UDP cannot, it tries again,
 *  at most ten times. */
async function listen(respond: Respond, { host, port: wanted }: { host: string; port: number }) {
  for (let tries = 10; ; tries--) {
    const connections = new Set<net.Socket>()
    const tcp = net.createServer((socket) => serveTcp(socket, connections, respond))
    tcp.listen(wanted, host)
    await once(tcp, 'listening')
    const { port } = tcp.address() as net.AddressInfo
    const udp = await bindUdp(host, port, respond)
    if (udp) return { address: `${host}:${port}`, stop: () => stop(tcp, udp, connections) }
    tcp.close()
    if (tries <= 1) throw new Error('no port is free for UDP and TCP')
  }
}

function serveTcp(socket: net.Socket, connections: Set<net.Socket>, respond: Respond): void {
  connections.add(socket)
  const takeMessages = framedMessages()
  socket.on('error', () => socket.destroy())
  socket.on('close', () => connections.delete(socket))
  socket.on('data', (bytes) => {
    for (const message of takeMessages(Buffer.from(bytes))) {
      const response = respond(message, 'tcp')
      if (response) socket.write(frameMessage(response))
    }
  })
}

function bindUdp(host: string, port: number, respond: Respond): Promise<dgram.Socket | null> {
  const socket = dgram.createSocket('udp4')
  socket.on('message', (message, peer) => {
    const response = respond(message, 'udp')
    if (response) socket.send(response, peer.port, peer.address)
  })
  return new Promise((resolve) => {
    socket.on('error', () => resolve(null)) // stays attached, so that later errors are caught
    socket.bind(port, host, () => resolve(socket))
  })
}

async function stop(tcp: net.Server, udp: dgram.Socket, connections: Set<net.Socket>): Promise<void> {
  for (const socket of connections) socket.destroy()
  await Promise.all([
    new Promise<void>((resolve) => tcp.close(() => resolve())),
    new Promise<void>((resolve) => udp.close(() => resolve())),
  ])
}
