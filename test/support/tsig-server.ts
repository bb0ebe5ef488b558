import { createHmac } from 'node:crypto'
import net from 'node:net'
import packet, { type Answer } from 'dns-packet'
import { nameKey } from '../../src/name-server/zone.ts'
import { frameMessage } from '../../src/net/dns/frame.ts'

/** A name server that signs whatever a test wants it to say (RFC 8945, hmac-sha256), also what no name server says. */
export interface TsigServer {
  port: number
  /** Opened by clients so far. */
  connections: number
  /** Of the requests so far. */
  opcodes: ('query' | 'update')[]
  /** Bytes that were written to sockets. */
  sentBytes: number
  stop(): Promise<void>
}

export interface TsigRequest {
  id: number
  opcode: 'query' | 'update'
}

export interface TsigReply {
  /** Messages without TSIG; an endless iterable is written as fast as the client reads. */
  messages: Iterable<Buffer>
  secret?: Buffer
  /** Closes the connection after the messages. */
  close?: boolean
  /** Whether the message at this place is signed; by default all are. */
  isSigned?: (at: number) => boolean
}

export const TSIG_NAME = 'postrider-key'
export const TSIG_SECRET = Buffer.alloc(32, 7)

/** `answer`: null leaves the request without an answer. */
export async function startTsigServer(
  answer: (request: TsigRequest) => TsigReply | null,
  now: () => number = Date.now,
): Promise<TsigServer> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    state.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let rest = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      rest = Buffer.concat([rest, Buffer.from(bytes)])
      while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
        const request = rest.subarray(2, 2 + rest.readUInt16BE())
        rest = rest.subarray(2 + request.length)
        void take(socket, Buffer.from(request))
      }
    })
  })
  const take = async (socket: net.Socket, bytes: Buffer) => {
    const opcode = ((bytes[2]! >> 3) & 15) === 5 ? 'update' : 'query'
    state.opcodes.push(opcode)
    const reply = answer({ id: bytes.readUInt16BE(), opcode })
    if (reply === null) return
    const { messages, secret = TSIG_SECRET, close = false, isSigned = () => true } = reply
    let previous = bytes.subarray(-6 - 32, -6) // the MAC stands before ID, error and length of other data
    let unsigned: Buffer[] = []
    let at = 0
    for (const message of messages) {
      let sent = message
      if (isSigned(at)) {
        const signed = sign(message, { previous, unsigned, secret, isFirst: at === 0, now: now() })
        sent = signed.message
        previous = signed.mac
        unsigned = []
      } else unsigned.push(message)
      at++
      const framed = frameMessage(sent)
      state.sentBytes += framed.length
      if (socket.destroyed) return
      if (at % 16 === 0) await new Promise((resolve) => setImmediate(resolve)) // the client has the same event loop
      if (!socket.write(framed))
        await new Promise<void>((resolve) => socket.once('drain', resolve).once('close', resolve))
    }
    if (close) socket.end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: TsigServer = {
    port: (server.address() as net.AddressInfo).port,
    connections: 0,
    opcodes: [],
    sentBytes: 0,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return state
}

function sign(
  message: Buffer,
  how: { previous: Buffer; unsigned: readonly Buffer[]; secret: Buffer; isFirst: boolean; now: number },
): { message: Buffer; mac: Buffer } {
  const [name, algorithm] = [nameOf(TSIG_NAME), nameOf('hmac-sha256')]
  const timers = Buffer.alloc(8)
  timers.writeUIntBE(Math.floor(how.now / 1000), 0, 6)
  timers.writeUInt16BE(300, 6)
  const variables = [name, Buffer.from([0, 255, 0, 0, 0, 0]), algorithm, timers, Buffer.alloc(4)]
  const digest = createHmac('sha256', how.secret)
  for (const part of [uint16(how.previous.length), how.previous, ...how.unsigned, message]) digest.update(part)
  for (const part of how.isFirst ? variables : [timers]) digest.update(part)
  const mac = digest.digest()
  const data = Buffer.concat([algorithm, timers, uint16(32), mac, message.subarray(0, 2), Buffer.alloc(4)])
  const record = Buffer.concat([name, Buffer.from([0, 250, 0, 255, 0, 0, 0, 0]), uint16(data.length), data])
  const signed = Buffer.concat([message, record])
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return { message: signed, mac }
}

const nameOf = (name: string) => Buffer.from(nameKey(name), 'latin1')

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** A response without TSIG. `rcode`: 5 = REFUSED, 7 = YXRRSET. */
export function responseTo({ id, opcode }: TsigRequest, answers: Answer[] = [], rcode = 0): Buffer {
  const message = packet.encode({ type: 'response', id, answers })
  message[2] = 0x80 | ((opcode === 'update' ? 5 : 0) << 3)
  message[3] = rcode
  return message
}

export const soaOf = (zone: string): Answer => ({
  type: 'SOA',
  name: zone,
  data: { mname: 'ns.example', rname: 'root.example', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 },
})
