import { dlopen, type FFIFunction, type Library } from 'bun:ffi'

/** The C library's functions by name → the library, to be closed. glibc has a name of its own; musl's is that of its
 *  loader, by processor. Throws where there is none. */
export function openLibc<Symbols extends Record<string, FFIFunction>>(symbols: Symbols): Library<Symbols> {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  for (const name of ['libc.so.6', `libc.musl-${machine}.so.1`]) {
    try {
      return dlopen(name, symbols)
    } catch {}
  }
  throw new Error('no C library found')
}
