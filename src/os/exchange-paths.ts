import { FFIType, ptr } from 'bun:ffi'
import { openLibc } from './libc.ts'

/** Exchanges two paths of one file system atomically: renameat2(2) with RENAME_EXCHANGE. False, with nothing done,
 *  if the kernel or file system does not support it. Never throws. */
export function exchangePaths(a: string, b: string): boolean {
  try {
    const libc = openLibc({ syscall: { args: [I64, I64, FFIType.ptr, I64, FFIType.ptr, I64], returns: I64 } })
    try {
      const result = libc.symbols.syscall(RENAMEAT2, AT_FDCWD, textOf(a), AT_FDCWD, textOf(b), RENAME_EXCHANGE)
      return Number(result) === 0
    } finally {
      libc.close()
    }
  } catch {
    return false
  }
}

const I64 = FFIType.i64
/** System call number; not every C library has the function. */
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316
const AT_FDCWD = -100
const RENAME_EXCHANGE = 2

const textOf = (path: string) => ptr(Buffer.from(`${path}\0`))
