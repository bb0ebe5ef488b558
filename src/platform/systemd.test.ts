import { dlopen, FFIType, ptr } from 'bun:ffi'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notifySystemd } from './systemd.ts'

const { symbols: libc } = dlopen('libc.so.6', {
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
})

describe('notifySystemd', () => {
  test('a socket file gets the state as one datagram', () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-notify-'))
    const listener = listen(join(folder, 'notify'))
    expect(notifySystemd('READY=1', join(folder, 'notify'))).toBe(true)
    expect(listener.receive()).toBe('READY=1')
    listener.close()
    rmSync(folder, { recursive: true })
  })

  test('a name that begins with @ is an abstract socket', () => {
    const name = `postrider-test-${process.pid}`
    const listener = listen(`\0${name}`)
    expect(notifySystemd('STOPPING=1', `@${name}`)).toBe(true)
    expect(listener.receive()).toBe('STOPPING=1')
    listener.close()
  })

  test('without a socket, or with nobody there, nothing happens', () => {
    expect(notifySystemd('READY=1', '')).toBe(false)
    expect(notifySystemd('READY=1', '/nowhere/notify')).toBe(false)
    expect(notifySystemd('READY=1', `/${'long'.repeat(40)}`)).toBe(false)
  })
})

/** A unix datagram socket bound to `path`. */
function listen(path: string) {
  const isAbstract = path.startsWith('\0')
  const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(path), Buffer.alloc(isAbstract ? 0 : 1)])
  const socket = libc.socket(1, 2, 0)
  expect(libc.bind(socket, ptr(address), address.length)).toBe(0)
  return {
    receive: () => {
      const buffer = Buffer.alloc(100)
      const size = Number(libc.recv(socket, ptr(buffer), buffer.length, 0x40)) // MSG_DONTWAIT: it is there or it is not
      return buffer.toString('utf8', 0, Math.max(0, size))
    },
    close: () => libc.close(socket),
  }
}
