import { dlopen, FFIType, ptr } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { until } from './patience.ts'

const { int, ptr: address, u32 } = FFIType
/** A port of 127.0.0.1 that answers no connection: its queue is full and never accepted, so the kernel drops every
 *  SYN. listen(2), tcp_max_syn_backlog of tcp(7). */
export async function startBlackHole(): Promise<{ port: number; stop(): Promise<void> }> {
  const { symbols, close } = dlopen('libc.so.6', {
    socket: { args: [int, int, int], returns: int },
    bind: { args: [int, address, u32], returns: int },
    listen: { args: [int, int], returns: int },
    getsockname: { args: [int, address, address], returns: int },
    close: { args: [int], returns: int },
  })
  const [AF_INET, SOCK_STREAM] = [2, 1]
  const fd = symbols.socket(AF_INET, SOCK_STREAM, 0)
  const name = new Uint8Array([AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  const length = new Uint32Array([name.byteLength])
  if (symbols.bind(fd, ptr(name), name.byteLength) !== 0) throw new Error('bind')
  if (symbols.listen(fd, 0) !== 0) throw new Error('listen')
  symbols.getsockname(fd, ptr(name), ptr(length))
  const port = name[2]! * 256 + name[3]!

  const guests: Socket[] = []
  for (let isFull = false; !isFull; ) {
    const guest = connect({ host: '127.0.0.1', port })
    guests.push(guest)
    guest.on('error', () => {})
    // The kernel answers in the moment of the connect, or drops the SYN, and the connection stays in SYN_SENT.
    await until('a guest to arrive or not', () => statesOf(port).length === guests.length)
    isFull = statesOf(port).includes(SYN_SENT)
  }
  return {
    port,
    async stop() {
      for (const guest of guests) guest.destroy()
      symbols.close(fd)
      close()
    },
  }
}

/** States of the connections to a port of loopback, proc_pid_net(5). */
function statesOf(port: number): string[] {
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return lines
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, , remote, state]) => (remote!.endsWith(to) ? [state!] : []))
}
const SYN_SENT = '02'
