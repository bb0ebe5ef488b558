import { FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { openLibc } from '../os/libc.ts'

/** Of the sockets of this process that listen on `port` with SO_REUSEPORT, that number `at` (from 0, in the order they were
 *  opened) is to get every new connection, so that the others can be closed without loss: by itself the kernel spreads
 *  connections over all, and those that wait to be accepted when their socket is closed are reset (measured: one to three
 *  a change at 1,500 connections a second). When a socket is closed the last one gets its number; a number that nobody has
 *  is as if nothing had been said. Answers whether the kernel agreed. Never throws. socket(7) */
export function preferListener(port: number, at: number): boolean {
  try {
    return listenersOn(port).some((socket) => attach(socket, at)) // one is enough, they are a group
  } catch {
    return false
  }
}

const SOL_SOCKET = 1
const SO_ATTACH_REUSEPORT_CBPF = 51
const SYMBOLS = {
  setsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
} as const

/** The runtime does not tell: those whose inode the kernel lists as listening there. proc_pid_net(5) */
function listenersOn(port: number): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes = new Set<string>()
  for (const family of ['tcp', 'tcp6']) {
    for (const line of textOf(`/proc/self/net/${family}`).split('\n')) {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      if (state === '0A' && local.endsWith(suffix)) inodes.add(`socket:[${inode}]`)
    }
  }
  const files = readdirSync('/proc/self/fd').map(Number)
  return files.filter((fd) => inodes.has(linkOf(fd)))
}

/** To the group of the socket, a program that says its number: struct sock_fprog {length, address}, and behind it its one
 *  struct sock_filter, BPF_RET | BPF_K. linux/filter.h */
function attach(socket: number, at: number): boolean {
  const memory = Buffer.alloc(MEMORY_BYTES)
  memory.writeUInt16LE(1, 0)
  memory.writeBigUInt64LE(BigInt(ptr(memory)) + 16n, 8)
  memory.writeUInt16LE(0x06, 16)
  memory.writeUInt32LE(at, 20)
  const libc = openLibc(SYMBOLS)
  try {
    return libc.symbols.setsockopt(socket, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, memory, 16) === 0
  } finally {
    libc.close()
  }
}

/** A small buffer may be moved by the collector, and the address in it would be wrong. */
const MEMORY_BYTES = 8192

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
