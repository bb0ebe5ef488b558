import { FFIType, type Pointer, ptr, read } from 'bun:ffi'
import { openLibc } from '../libc.ts'

/** Direct system calls, for what the runtime has no function. */
export interface Kernel {
  /** Returns the result; -1 if the kernel refuses. Missing arguments are 0. */
  call(number: number, ...args: (number | bigint)[]): number
  /** Error number of the last call that returned -1. */
  errno(): number
}

/** Bytes → their address. The collector may move small buffers, so they are copied into one that it does not move;
 *  the address is valid while `hold` is referenced. */
export function pinned(...parts: Uint8Array[]): { hold: Buffer; address: Pointer } {
  const hold = Buffer.alloc(
    Math.max(
      PINNED_BYTES,
      parts.reduce((sum, part) => sum + part.length, 0),
    ),
  )
  let at = 0
  for (const part of parts) {
    hold.set(part, at)
    at += part.length
  }
  return { hold, address: ptr(hold) }
}

let opened: Kernel | null = null

/** The C library's `syscall`, loaded once. Throws if there is none. */
export function kernel(): Kernel {
  if (opened !== null) return opened
  const { symbols } = openLibc({
    syscall: {
      args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64],
      returns: FFIType.i64,
    },
    __errno_location: { args: [], returns: FFIType.ptr },
  })
  opened = {
    call: (number, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0) =>
      Number(symbols.syscall(BigInt(number), BigInt(a), BigInt(b), BigInt(c), BigInt(d), BigInt(e), BigInt(f))),
    errno: () => {
      const location = symbols.__errno_location()
      return location === null ? 0 : read.i32(location, 0)
    },
  }
  return opened
}

const PINNED_BYTES = 8192
