import dgram from 'node:dgram'
import { isIP } from 'node:net'
import type { Random } from '../../os/random.ts'

/** Queries a time server (an IP address, port 123) and returns by how many milliseconds our clock is ahead; negative if
 *  behind. Null after `timeoutMs` or for an answer that cannot be trusted: a packet of another sender, or a server that is
 *  not synchronized (stratum 0, leap indicator 3). Never rejects. RFC 5905 §7.3 and §14 */
export function askTime(
  server: { address: string; port: number },
  { now, random, timeoutMs }: { now: () => number; random: Random; timeoutMs: number },
): Promise<number | null> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket(isIP(server.address) === 6 ? 'udp6' : 'udp4')
    const end = (aheadMs: number | null) => {
      clearTimeout(timer)
      socket.removeAllListeners('message')
      try {
        socket.close()
      } catch {
        // closed by its own error
      }
      resolve(aheadMs)
    }
    const timer = setTimeout(() => end(null), timeoutMs)
    // The server must echo this. It is random, so that only a host that sees the request can answer.
    const token = Buffer.from(random.bytes(8))
    const request = Buffer.concat([FIRST, token])
    let sentAt = 0
    socket.on('error', () => end(null))
    socket.on('message', (packet) => {
      const receivedAt = now()
      if (packet.length < PACKET_BYTES || !packet.subarray(24, 32).equals(token)) return
      const isInStep = packet[0]! >> 6 !== 3 && packet[1]! >= 1 && packet[1]! <= 15 && (packet[0]! & 7) === SERVER
      const [serverReceivedAt, answeredAt] = [stamp(packet, 32), stamp(packet, 40)]
      end(isInStep ? Math.round((sentAt - serverReceivedAt + (receivedAt - answeredAt)) / 2) : null)
    })
    socket.connect(server.port, server.address, () => {
      sentAt = now()
      socket.send(request)
    })
  })
}

const PACKET_BYTES = 48
const SERVER = 4
/** Version 4, mode 3 (client), all other fields zero; the transmit timestamp follows. */
const FIRST = Buffer.concat([Buffer.from([0x23]), Buffer.alloc(39)])
/** Seconds from 1900 to 1970. */
const EPOCH_SECONDS = 2_208_988_800

function stamp(packet: Buffer, at: number): number {
  const seconds = packet.readUInt32BE(at)
  // The counter wraps in 2036 (era 1).
  const era = seconds < EPOCH_SECONDS ? 2 ** 32 : 0
  return (era + seconds - EPOCH_SECONDS) * 1000 + (packet.readUInt32BE(at + 4) / 2 ** 32) * 1000
}
