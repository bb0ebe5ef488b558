import { FFIType, ptr } from 'bun:ffi'
import { openLibc } from './libc.ts'

/** Reports the state of this service (`READY=1`, `STOPPING=1`) to systemd if systemd asked for it; otherwise does
 *  nothing. Sends one datagram to the given socket (sd_notify(3)) through the C library, because the runtime has no
 *  unix datagrams. Returns whether it was sent. Never throws: a missing listener must not end the service. */
export function notifySystemd(state: string, socketPath: string | undefined = process.env.NOTIFY_SOCKET): boolean {
  if (!socketPath) return false
  try {
    return sendDatagram(Buffer.from(state), addressOf(socketPath))
  } catch {
    return false
  }
}

/** Reports to systemd that the main thread still runs, twice per requested interval (WATCHDOG_USEC,
 *  sd_watchdog_enabled(3)). systemd restarts a service that stops reporting. Does nothing if not requested. Returns
 *  a function that stops it. */
export function feedWatchdog(
  env: Record<string, string | undefined> = process.env,
  notify: (state: string) => unknown = notifySystemd,
): () => void {
  const periodMs = Number(env.WATCHDOG_USEC) / 1000
  const isMeant = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(process.pid)
  if (!(periodMs > 0) || !isMeant) return () => {}
  const timer = setInterval(() => notify('WATCHDOG=1'), Math.min(periodMs / 2, LONGEST_TIMER_MS))
  timer.unref()
  return () => clearInterval(timer)
}

const LONGEST_TIMER_MS = 2 ** 31 - 1
const AF_UNIX = 1
const SOCK_DGRAM = 2
const LONGEST_PATH = 107 // sockaddr_un, unix(7)
const SYMBOLS = {
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  sendto: {
    args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
    returns: FFIType.i64,
  },
  close: { args: [FFIType.i32], returns: FFIType.i32 },
} as const

/** `/path` or `@abstract` → struct sockaddr_un; NUL replaces the `@`. */
function addressOf(path: string): Buffer {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : path)
  if (name.length > LONGEST_PATH) throw new Error('the socket path is too long')
  const family = Buffer.from(new Uint16Array([AF_UNIX]).buffer)
  return Buffer.concat([family, name, Buffer.alloc(path.startsWith('@') ? 0 : 1)])
}

function sendDatagram(bytes: Buffer, address: Buffer): boolean {
  const libc = openLibc(SYMBOLS)
  try {
    const socket = libc.symbols.socket(AF_UNIX, SOCK_DGRAM, 0)
    if (socket < 0) return false
    const sent = libc.symbols.sendto(socket, ptr(bytes), bytes.length, 0, ptr(address), address.length)
    libc.symbols.close(socket)
    return Number(sent) === bytes.length
  } finally {
    libc.close()
  }
}
