import { FFIType, ptr } from 'bun:ffi'
import { closeSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { openLibc } from './libc.ts'

/** Bytes of a Node-API addon → its exports, without a file where the kernel allows it: memfd_create(2). Elsewhere it is
 *  mapped from a file in the temporary folder, which is removed at once. A second copy in one process would break SQLite's
 *  locks (sqlite.org/howtocorrupt.html §2.2.1), so it throws in another thread than the main one. Throws what dlopen(3)
 *  refuses. */
export function loadAddon(bytes: Uint8Array): unknown {
  if (!isMainThread) throw new Error('SQLite is loaded by the main thread only')
  return fromMemory(bytes) ?? fromFile(bytes)
}

/** Undefined if the kernel refuses, for example with vm.memfd_noexec. */
export function fromMemory(bytes: Uint8Array): unknown {
  let fd = -1
  try {
    const libc = openLibc({ memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 } })
    fd = libc.symbols.memfd_create(ptr(Buffer.from('addon\0')), MFD_CLOEXEC)
    libc.close()
    if (fd < 0) return undefined
    writeFileSync(fd, bytes)
    return mapped(`/proc/self/fd/${fd}`)
  } catch {
    return undefined
  } finally {
    if (fd >= 0) closeSync(fd)
  }
}

export function fromFile(bytes: Uint8Array): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-'))
  try {
    const file = join(folder, 'addon.node')
    writeFileSync(file, bytes, { mode: 0o700 })
    return mapped(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function mapped(path: string): unknown {
  const addon = { exports: {} }
  process.dlopen(addon, path)
  return addon.exports
}

const MFD_CLOEXEC = 1
