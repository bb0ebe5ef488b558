import { FFIType, type Library, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import type { Descriptors } from '../os/descriptors.ts'
import { openLibc } from '../os/libc.ts'

/** Connections of clients to our HTTP listeners, as the kernel reports them. The runtime only shows those that have sent a
 *  complete request. */
export interface ClientConnections {
  /** Closes the newest connections of each client that has more than `most` to one of `ports`, and returns how many were
   *  closed by client. A client is an IPv4 address or an IPv6 /64. Does nothing if the C library cannot be used. */
  closeBeyond(most: number, ports: readonly number[], isExempt: (ip: string) => boolean): Map<string, number>
}

/** Creates a ClientConnections. It asks the kernel for the addresses of every descriptor, 1 µs each (measured), so use it only
 *  when many are open. */
export function openClientConnections(): ClientConnections {
  let libc: Library<typeof SYMBOLS> | null = null
  try {
    libc = openLibc(SYMBOLS)
  } catch {
    return { closeBeyond: () => new Map() }
  }
  const { getsockname, getpeername, shutdown } = libc.symbols
  // One allocation, large enough not to be moved by the collector.
  const memory = Buffer.alloc(MEMORY_BYTES)
  const [address, size] = [ptr(memory), ptr(memory, ADDRESS_BYTES)]
  const ask = (call: typeof getsockname, fd: number): boolean => {
    memory.writeUInt32LE(ADDRESS_BYTES, ADDRESS_BYTES)
    return call(fd, address, size) === 0
  }

  return {
    closeBeyond: (most, ports, isExempt) => {
      const byClient = new Map<string, number[]>()
      for (const fd of descriptors()) {
        if (!ask(getsockname, fd) || !ports.includes(memory.readUInt16BE(2)) || !ask(getpeername, fd)) continue
        const ip = addressIn(memory)
        if (ip === null || isExempt(ip)) continue
        const client = clientOf(ip)
        const own = byClient.get(client)
        if (own === undefined) byClient.set(client, [fd])
        else own.push(fd)
      }
      const closed = new Map<string, number>()
      for (const [client, own] of byClient) {
        // The kernel assigns the lowest free number, so higher numbers are nearly always newer.
        const beyond = own.sort((a, b) => a - b).slice(most)
        for (const fd of beyond) shutdown(fd, SHUT_RDWR)
        if (beyond.length > 0) closed.set(client, beyond.length)
      }
      return closed
    },
  }
}

const SYMBOLS = {
  getsockname: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  getpeername: { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
} as const
const SHUT_RDWR = 2
/** struct sockaddr_storage */
const ADDRESS_BYTES = 128
const MEMORY_BYTES = 8192
const AF_INET = 2
const AF_INET6 = 10

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number)
  } catch {
    return []
  }
}

/** Reads the address in a struct sockaddr_in or sockaddr_in6; an IPv4-mapped address as IPv4. ip(7), ipv6(7) */
function addressIn(memory: Buffer): string | null {
  const family = memory.readUInt16LE(0)
  if (family === AF_INET) return [...memory.subarray(4, 8)].join('.')
  if (family !== AF_INET6) return null
  const bytes = memory.subarray(8, 24)
  if (bytes.subarray(0, 12).equals(MAPPED)) return [...bytes.subarray(12)].join('.')
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':')
}

const MAPPED = Buffer.from('00000000000000000000ffff', 'hex')

/** One customer has at least a /64, RFC 6177. */
const clientOf = (ip: string) => (ip.includes(':') ? `${ip.split(':').slice(0, 4).join(':')}::/64` : ip)

/** Checks once a second whether many descriptors are open, and if so closes the connections of clients beyond their share.
 *  Without it one client could use up all descriptors, after which no HTTP is served (web/api/listener.ts), or fill the memory.
 *  Does not keep the process alive. Returns what stops it. */
export function watchClientConnections(options: {
  descriptors: Descriptors
  ports: () => readonly number[]
  /** Trusted proxies, which connect for many clients. */
  isExempt: (ip: string) => boolean
  onClosed: (client: string, count: number) => void
  everyMs?: number
}): () => void {
  const { descriptors, ports, isExempt, onClosed, everyMs = EVERY_MS } = options
  const { crowdedAt, most } = connectionLimits(descriptors.limit)
  let connections: ClientConnections | null = null
  const timer = setInterval(() => {
    if (descriptors.used() < crowdedAt) return
    connections ??= openClientConnections()
    for (const [client, count] of connections.closeBeyond(most, ports(), isExempt)) onClosed(client, count)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Derives from the descriptor limit when clients are checked, and how many connections each may have. With the 65,536 of
 *  our systemd unit: 1,024 once 4,096 are open. */
export function connectionLimits(limit: number): { crowdedAt: number; most: number } {
  return { crowdedAt: Math.min(limit / 4, 4_096), most: Math.max(32, Math.min(Math.floor(limit / 16), 1_024)) }
}

const EVERY_MS = 1_000
