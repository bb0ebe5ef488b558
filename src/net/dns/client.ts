import dgram from 'node:dgram'
import net from 'node:net'
import packet, { type Answer, type DecodedPacket } from 'dns-packet'
import type { Random } from '../../os/random.ts'
import { parseHostPort } from '../ip.ts'
import { isCheap } from './cost.ts'
import { framedMessages, frameMessage, isWhole } from './frame.ts'
import type { RecordType } from './lookup.ts'

/** Result of one question: a valid answer, or why there is none. */
export type Reply =
  | { kind: 'answered'; isNxdomain: boolean; answers: Answer[]; authorities: Answer[]; authentic: boolean }
  | { kind: 'temporary'; reason: string }

export type Ask = (name: string, type: RecordType) => Promise<Reply>

/** Servers and time limits → the function that sends one question. It follows no CNAME and caches nothing. Servers
 *  are asked in turn until one answers NOERROR or NXDOMAIN. A server that answers SERVFAIL, REFUSED or similar is
 *  not asked again; a silent one is, up to `tries` questions in total (each server gets at least one). `timeoutMs`
 *  is per question; all together take at most tries × timeoutMs in real time, even under a test clock. Each question
 *  has a random ID and a new socket, and so a random port. The AD flag counts only from servers that `isTrusted`
 *  accepts, because any other could set it. Throws for a server that is not `ip:port`; the returned function never
 *  rejects. */
export function createAsk(options: {
  servers: string[]
  random: Random
  timeoutMs: number
  tries: number
  isTrusted: (ip: string) => boolean
  /** `tcp`: TCP only. By default UDP, then TCP for an answer that does not fit. */
  transport?: 'udp' | 'tcp'
}): Ask {
  const { random, timeoutMs, isTrusted, transport = 'udp' } = options
  const servers = options.servers.map(parseServer)
  if (servers.length === 0) throw new Error('no DNS server configured')
  const tries = Math.max(options.tries, servers.length)

  return async (name, type) => {
    const deadline = performance.now() + tries * timeoutMs
    const willing = [...servers]
    let reason = 'timeout'
    for (let turn = 0; turn < tries; turn++) {
      const server = willing[turn % willing.length]
      if (server === undefined) break
      const outcome = await askServer(server, newQuestion(name, type, random), { deadline, timeoutMs, transport })
      if (outcome.kind === 'answered') {
        return { ...outcome, authentic: outcome.authentic && isTrusted(server.host) }
      }
      reason = outcome.reason
      if (outcome.isFinal) willing.splice(willing.indexOf(server), 1)
    }
    return { kind: 'temporary', reason }
  }
}

/** Longest time for one question, in ms, including the wait for servers. */
export function longestAskMs(options: { servers: string[]; timeoutMs: number; tries: number }): number {
  return Math.max(options.tries, options.servers.length) * options.timeoutMs
}

interface Server {
  host: string
  port: number
}
interface DnsQuestion {
  id: number
  name: string
  type: RecordType
}
/** `isFinal`: this server answered, and would answer the same again. */
type Failure = { kind: 'temporary'; reason: string; isFinal: boolean }
type ServerReply = Exclude<Reply, { kind: 'temporary' }> | Failure
type Exchange = (server: Server, question: DnsQuestion, query: Buffer, timeoutMs: number) => Promise<Received>
/** A message that answers the question, or why there is none. */
type Received = DecodedPacket | Failure

const UDP_PAYLOAD_BYTES = 1232 // fits every path without fragments: DNS Flag Day 2020
const RCODES: Record<number, string> = { 1: 'FORMERR', 2: 'SERVFAIL', 4: 'NOTIMP', 5: 'REFUSED' } // RFC 1035 §4.1.1

function parseServer(text: string): Server {
  const server = parseHostPort(text)
  if (!server || net.isIP(server.host) === 0) throw new Error(`not a DNS server in the form ip:port: ${text}`)
  return server
}

function newQuestion(name: string, type: RecordType, random: Random): DnsQuestion {
  const [high = 0, low = 0] = random.bytes(2)
  return { id: (high << 8) | low, name, type }
}

/** UDP first; TCP if the answer did not fit; without EDNS if the server does not support it (RFC 6891 §7). */
async function askServer(
  server: Server,
  question: DnsQuestion,
  { deadline, timeoutMs, transport }: { deadline: number; timeoutMs: number; transport: 'udp' | 'tcp' },
) {
  const exchange = async (speak: Exchange, hasEdns: boolean): Promise<Received> => {
    const leftMs = Math.min(timeoutMs, deadline - performance.now())
    if (leftMs <= 0) return temporary('timeout')
    return speak(server, question, encodeQuery(question, hasEdns), leftMs)
  }
  let received = await exchange(transport === 'udp' ? overUdp : overTcp, true)
  if (isMessage(received) && isFormatError(received))
    received = await exchange(transport === 'udp' ? overUdp : overTcp, false)
  if (transport === 'udp' && isMessage(received) && received.flag_tc) received = await exchange(overTcp, true)
  return isMessage(received) ? judge(received) : received
}

function encodeQuery({ id, name, type }: DnsQuestion, hasEdns: boolean): Buffer {
  return packet.encode({
    type: 'query',
    id,
    flags: packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA, // AD asks for the AD of the answer, RFC 6840 §5.7
    questions: [{ name, type, class: 'IN' }],
    additionals: hasEdns ? [EDNS] : [],
  })
}

const EDNS: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: UDP_PAYLOAD_BYTES,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: packet.DNSSEC_OK,
  flag_do: true,
  options: [],
}

const isMessage = (received: Received): received is DecodedPacket => !('kind' in received)
const rcodeOf = (message: DecodedPacket) => (message.flags ?? 0) & 0xf
const isFormatError = (message: DecodedPacket) => rcodeOf(message) === 1 || rcodeOf(message) === 4
const temporary = (reason: string, isFinal = false): Failure => ({ kind: 'temporary', reason, isFinal })

function judge(message: DecodedPacket): ServerReply {
  const rcode = rcodeOf(message)
  if (rcode !== 0 && rcode !== 3) return temporary(RCODES[rcode] ?? `RCODE${rcode}`, true)
  if (message.flag_tc) return temporary('truncated response over TCP', true)
  return {
    kind: 'answered',
    isNxdomain: rcode === 3,
    answers: message.answers ?? [],
    authorities: message.authorities ?? [],
    authentic: message.flag_ad,
  }
}

/** Sends one datagram and takes the first reply that answers the question. Others are ignored: an attacker who
 *  guesses IDs and ports must not end the wait. */
const overUdp: Exchange = ({ host, port }, question, query, timeoutMs) =>
  new Promise((resolve) => {
    const socket = dgram.createSocket(net.isIP(host) === 6 ? 'udp6' : 'udp4')
    const end = (received: Received) => {
      clearTimeout(timer)
      socket.removeAllListeners('message')
      try {
        socket.close()
      } catch {
        // closed by its own error
      }
      resolve(received)
    }
    const timer = setTimeout(() => end(temporary('timeout')), timeoutMs)
    socket.on('error', () => end(temporary('no response from the server')))
    socket.on('message', (bytes) => {
      const received = receive(bytes, question)
      if (received) end(received)
    })
    // Connected, so that the kernel drops datagrams from elsewhere and reports a closed port.
    socket.connect(port, host, () => {
      try {
        socket.send(query)
      } catch {
        // Without a route to the server, Bun reports success but does not connect.
        end(temporary('no route to the server'))
      }
    })
  })

const overTcp: Exchange = ({ host, port }, question, query, timeoutMs) =>
  new Promise((resolve) => {
    const socket = net.connect(port, host)
    const takeMessages = framedMessages()
    const end = (received: Received) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(() => end(temporary('timeout')), timeoutMs)
    socket.on('error', () => end(temporary('no response from the server over TCP')))
    socket.on('close', () => end(temporary('no response from the server over TCP')))
    socket.on('connect', () => socket.write(frameMessage(query)))
    socket.on('data', (bytes) => {
      for (const message of takeMessages(Buffer.from(bytes))) {
        const received = receive(message, question)
        if (received) return end(received)
      }
    })
  })

/** Bytes → the answer to our question; a failure if it is ours but unreadable; null if it is not ours. */
function receive(bytes: Buffer, question: DnsQuestion): Received | null {
  if (bytes.length < 12 || bytes.readUInt16BE() !== question.id) return null
  if (!isCheap(bytes)) return temporary('response too large', true)
  try {
    const message = packet.decode(bytes)
    // dns-packet reads past the end of a truncated message and invents the rest; NaN counts as past the end.
    if (!(packet.decode.bytes <= bytes.length) || !isWhole(bytes)) return temporary('malformed response', true)
    if (!message.flag_qr) return null
    return isAnswerTo(message, question) ? message : null
  } catch {
    return temporary('malformed response', true)
  }
}

function isAnswerTo(message: DecodedPacket, { name, type }: DnsQuestion): boolean {
  const [asked, ...more] = message.questions ?? []
  if (!asked) return rcodeOf(message) !== 0 && rcodeOf(message) !== 3 // some servers refuse without repeating the question
  return more.length === 0 && asked.name.toLowerCase() === name && asked.type === type && asked.class === 'IN'
}
