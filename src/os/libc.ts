import { dlopen, type FFIFunction, type Library } from 'bun:ffi'

/** C library functions by name → the opened library; the caller closes it. glibc has its own file name; musl's is
 *  that of its loader, by processor. Throws if no C library is found. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(symbols: Symbols): Library<Symbols> {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  for (const name of ['libc.so.6', `libc.musl-${machine}.so.1`]) {
    try {
      return dlopen(name, symbols)
    } catch {}
  }
  throw new Error('no C library found')
}
