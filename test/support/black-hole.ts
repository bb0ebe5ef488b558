import { dlopen, FFIType, ptr } from 'bun:ffi'
import { connect, type Socket } from 'node:net'

const { int, ptr: address, u32 } = FFIType
/** A connection on loopback is established at once, or not at all. */
const FULL_MS = 200

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
    isFull = !(await Promise.race([new Promise((resolve) => guest.once('connect', () => resolve(true))), pause()]))
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

const pause = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), FULL_MS))
