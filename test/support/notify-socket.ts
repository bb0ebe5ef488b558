import { dlopen, FFIType, ptr } from 'bun:ffi'

const { symbols: libc } = dlopen('libc.so.6', {
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
})

/** A unix datagram socket bound to `path`, like systemd's; a leading NUL makes it abstract. `receive` returns the
 *  next state, or '' when there is none. */
export function listenForStates(path: string) {
  const isAbstract = path.startsWith('\0')
  const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(path), Buffer.alloc(isAbstract ? 0 : 1)])
  const socket = libc.socket(1, 2, 0)
  if (libc.bind(socket, ptr(address), address.length) !== 0) throw new Error(`cannot bind ${path}`)
  return {
    receive: () => {
      const buffer = Buffer.alloc(100)
      const size = Number(libc.recv(socket, ptr(buffer), buffer.length, 0x40)) // MSG_DONTWAIT: never blocks
      return buffer.toString('utf8', 0, Math.max(0, size))
    },
    close: () => libc.close(socket),
  }
}
